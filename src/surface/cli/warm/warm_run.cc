#include "surface/cli/warm/warm_run.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "domain/trace/app_trace.h"
#include "serving/warm_study/sizes.h"
#include "serving/warm_study/verdict.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/cli/shared/text_table.h"
#include "surface/figures/warm_figures.h"
#include "surface/pages/warm_report.h"

namespace berth::cli {
namespace {

Result<AppTrace> read_apps(const WarmRequest& request, const Files& files) {
  const auto text = files.read(request.trace_path);
  if (!text) return pass_on(text.error());
  switch (request.trace_format) {
    case AppTraceFormat::kAzureFunctions:
      return read_azure_apps(*text, request.trace_path);
    case AppTraceFormat::kCsv:
      return read_app_csv(*text, request.trace_path);
  }
  return invalid("--trace-format: wanted a known one");
}

/// The memory of the run; nothing without --memory-mib. A file of sizes is checked in either case.
Result<std::optional<warm::Memory>> read_memory(const WarmRequest& request, const AppTrace& trace, const Files& files) {
  if (!request.memory_path) return std::optional<warm::Memory>();
  const auto text = files.read(*request.memory_path);
  if (!text) return pass_on(text.error());
  auto sizes = warm::read_app_sizes(*text, *request.memory_path, trace);
  if (!sizes) return pass_on(sizes.error());
  if (!request.memory_mib) return std::optional<warm::Memory>();
  return std::optional(warm::Memory{.mib = *request.memory_mib, .app_mib = std::move(*sizes)});
}

std::string warm_json(const warm::Problem& problem, const std::vector<warm::PolicyResult>& results) {
  std::int64_t invocations = 0;
  for (const AppCounts& app : problem.trace->apps) invocations += app.invocations;
  return json::Value(json::Value::Object{{"berth", 1},
                                         {"apps", std::ssize(problem.trace->apps)},
                                         {"invocations", invocations},
                                         {"minutes", problem.trace->minutes},
                                         {"policies", figures::json_rows(figures::warm_figures(problem, results))}})
      .to_line();
}

std::string warm_table(const warm::Problem& problem, const std::vector<warm::PolicyResult>& results, bool has_colour) {
  return wrapped(warm::warm_question(problem) + " " + warm::warm_assumption()) + "\n\n" +
         figures_text(figures::warm_figures(problem, results), has_colour) + "\n" +
         wrapped(warm::warm_verdict(problem, results)) + "\n";
}

/// Requires: a single policy that loads apps, if a log is wanted.
void add_loaded(OutputLines& log, const AppTrace& trace, const std::vector<warm::PolicyResult>& results) {
  if (!log.is_open()) return;
  const std::vector<warm::LoadedMinutes>& loaded = results.front().loaded;
  for (std::size_t app = 0; app < loaded.size(); ++app) {
    for (const warm::MinuteSpan& span : loaded[app].spans()) {
      log.add(json::Value(json::Value::Object{{"app", trace.apps[app].app}, {"from", span.from}, {"to", span.to}})
                  .to_line());
    }
  }
}

Result<void> check_costs_fit(const warm::Problem& problem, const std::vector<warm::PolicyResult>& results) {
  if (warm::do_costs_fit(problem, results)) return {};
  return invalid(fmt::format(
      "--micro-usd-per-idle-hour: wanted a price with which every policy costs less than 2^63 micro-dollars, found {}",
      problem.prices.micro_usd_per_idle_hour.value()));
}

}  // namespace

Result<std::string> run_warm(const WarmRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const auto trace = read_apps(request, *context.files);
  if (!trace) return pass_on(trace.error());
  auto memory = read_memory(request, *trace, *context.files);
  if (!memory) return pass_on(memory.error());
  const warm::Problem problem{
      .trace = &*trace, .weigh = request.weigh, .prices = request.prices, .memory = std::move(*memory)};
  const auto results = warm::run_policies(problem, request.policies);
  if (auto checked = check_costs_fit(problem, results); !checked) return pass_on(checked.error());
  outputs.begin();
  if (auto opened = outputs.open_report(request.report_dir); !opened) return pass_on(opened.error());
  const auto log = outputs.open_lines(request.log_path);
  if (!log) return pass_on(log.error());
  add_loaded(**log, *trace, results);
  return outputs.finish({.text =
                             [&] {
                               return request.format == OutputFormat::kJson
                                          ? warm_json(problem, results)
                                          : warm_table(problem, results, context.has_colour());
                             },
                         .page = [&] { return report::render_warm_report(request.trace_path, problem, results); }});
}

}  // namespace berth::cli
