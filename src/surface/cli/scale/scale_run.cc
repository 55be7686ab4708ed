#include "surface/cli/scale/scale_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "edges/files/file_sink.h"
#include "purchase/scale/comparison.h"
#include "surface/cli/scale/scale_json.h"
#include "surface/cli/scale/scale_table.h"
#include "surface/cli/shared/interrupt.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/report_folder.h"
#include "surface/cli/shared/unwritable.h"
#include "surface/pages/scale_report.h"

namespace berth::cli {
namespace {

/// Runs the policies with a bar; an interrupt ends them.
Result<std::vector<scale::PolicyResult>> run_policies(const ScaleRequest& request, const scale::Problem& problem,
                                                      std::FILE* progress, const InterruptWatch& interrupt) {
  ProgressBar bar(progress, static_cast<int>(request.policies.size()), steady_now);
  std::vector<scale::PolicyResult> results;
  for (const scale::Policy policy : request.policies) {
    const auto index = static_cast<int>(results.size());
    auto result = scale::run_policy(problem, policy, [&](double done) {
      bar.show(fmt::format("{:<15}", scale::name_of(policy)), index, done);
      return !interrupt.is_interrupted();
    });
    if (!result) return pass_on(interrupted_error());
    results.push_back(std::move(*result));
  }
  return results;
}

/// Costs are whole micro-dollars of 64 bits.
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

Result<void> write_log(edges::FileSink& log, const std::vector<scale::PolicyResult>& results) {
  for (const scale::PolicyResult& result : results) {
    for (const scale::WantChange& change : result.changes) {
      if (auto written = log.append(scale_log_line(result.policy, change)); !written) return written;
    }
  }
  return log.commit();
}

/// Where the answer goes beside standard output; both are optional.
struct Outputs {
  ReportFolder folder;
  std::optional<edges::FileSink> log;

  Result<void> open(const ScaleRequest& request) {
    if (request.report_dir) {
      if (auto made = folder.make(*request.report_dir); !made) return made;
    }
    if (!request.log_path) return {};
    auto file = edges::FileSink::open(*request.log_path);
    if (!file) return unwritable(file.error());
    log.emplace(std::move(*file));
    return {};
  }
  Result<void> write(const scale::Comparison& comparison, const std::optional<std::string>& page) {
    if (log) {
      if (auto written = write_log(*log, comparison.results); !written) return unwritable(written.error());
    }
    return page ? folder.write_page(*page) : Result<void>();
  }
};

}  // namespace

Result<std::string> run_scale(const ScaleRequest& request, const VerbContext& context) {
  InterruptWatch interrupt;
  const auto counts = read_trace_counts(request.trace, *context.files);
  if (!counts) return pass_on(counts.error());
  interrupt.defer();
  Outputs outputs;
  if (auto opened = outputs.open(request); !opened) return pass_on(opened.error());
  scale::Comparison comparison{.trace_name = request.trace.path,
                               .problem = {.load = {.counts = *counts, .from_second = request.trace.from_second},
                                           .rate = request.rate,
                                           .wait_seconds = request.wait_seconds,
                                           .start_seconds = request.start_seconds,
                                           .attainment = request.attainment},
                               .micro_usd_per_replica_hour = request.micro_usd_per_replica_hour,
                               .results = {}};
  auto results = run_policies(request, comparison.problem, context.progress(), interrupt);
  if (!results) return pass_on(results.error());
  comparison.results = std::move(*results);
  if (auto checked = check_costs(comparison); !checked) return pass_on(checked.error());
  std::string text =
      request.format == OutputFormat::kJson ? scale_json(comparison) : scale_table(comparison, context.has_colour());
  const auto page = request.report_dir ? std::optional(report::render_scale_report(comparison)) : std::nullopt;
  if (auto written = outputs.write(comparison, page); !written) return pass_on(written.error());
  return text;
}

}  // namespace berth::cli
