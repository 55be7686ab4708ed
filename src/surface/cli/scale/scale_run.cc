#include "surface/cli/scale/scale_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "purchase/scale/comparison.h"
#include "surface/cli/scale/scale_json.h"
#include "surface/cli/scale/scale_table.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/pages/scale_report.h"

namespace berth::cli {
namespace {

/// Runs the policies and shows progress; an interrupt stops them.
Result<std::vector<scale::PolicyResult>> run_policies(const ScaleRequest& request, const scale::Problem& problem,
                                                      ProgressOutput progress, const RunOutputs& outputs) {
  ProgressBar bar(progress, static_cast<int>(request.policies.size()), steady_now);
  std::vector<scale::PolicyResult> results;
  for (const scale::Policy policy : request.policies) {
    const auto index = static_cast<int>(results.size());
    auto result = scale::run_policy(problem, policy, [&](double done) {
      bar.show(fmt::format("{:<15}", scale::name_of(policy)), index, done);
      return outputs.may_continue();
    });
    if (!result) return pass_on(outputs.reason_of_stop());
    results.push_back(std::move(*result));
  }
  return results;
}

/// Checks that costs fit into 64 bits of micro-dollars.
Result<void> check_costs(const scale::Comparison& comparison) {
  if (!comparison.micro_usd_per_replica_hour) return {};
  const auto seconds = [](const scale::PolicyResult& result) { return result.run.replica_seconds; };
  const std::int64_t most = seconds(*std::ranges::max_element(comparison.results, {}, seconds));
  if ((Decimal(most) * Decimal(*comparison.micro_usd_per_replica_hour)).fits_int64()) return {};
  return invalid(
      fmt::format("--micro-usd-per-replica-hour: wanted a price with which {} replica-seconds cost less "
                  "than 2^62 / 3600 micro-dollars, found {}",
                  most, *comparison.micro_usd_per_replica_hour));
}

void add_changes(OutputLines& log, const std::vector<scale::PolicyResult>& results) {
  if (!log.is_open()) return;
  for (const scale::PolicyResult& result : results) {
    for (const scale::WantChange& change : result.changes) log.add(scale_log_line(result.policy, change));
  }
}

}  // namespace

Result<std::string> run_scale(const ScaleRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const auto counts = read_trace_counts(request.trace, *context.files);
  if (!counts) return pass_on(counts.error());
  outputs.begin();
  if (auto opened = outputs.open_report(request.report_dir); !opened) return pass_on(opened.error());
  const auto log = outputs.open_lines(request.log_path);
  if (!log) return pass_on(log.error());
  scale::Comparison comparison{.trace_name = request.trace.path,
                               .problem = {.load = {.counts = *counts, .from_second = request.trace.from_second},
                                           .rate = request.rate,
                                           .wait_seconds = request.wait_seconds,
                                           .start_seconds = request.start_seconds,
                                           .attainment = request.attainment},
                               .micro_usd_per_replica_hour = request.micro_usd_per_replica_hour,
                               .results = {}};
  auto results = run_policies(request, comparison.problem, context.progress(), outputs);
  if (!results) return pass_on(results.error());
  comparison.results = std::move(*results);
  if (auto checked = check_costs(comparison); !checked) return pass_on(checked.error());
  add_changes(**log, comparison.results);
  return outputs.finish({.text =
                             [&] {
                               return request.format == OutputFormat::kJson
                                          ? scale_json(comparison)
                                          : scale_table(comparison, context.has_colour());
                             },
                         .page = [&] { return report::render_scale_report(comparison); }});
}

}  // namespace berth::cli
