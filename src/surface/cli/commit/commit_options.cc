#include "surface/cli/commit/commit_options.h"

#include "base/core/text.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {

OptionTable commit_option_rows(CommitWords& words) {
  return {
      {"--demand", "FILE", "Units needed in each hour", &words.demand, kRequired},
      {"--demand-format", "WORD", "csv or openb-pods", &words.demand_format, kRequired},
      {"--plans", "FILE", "What a unit costs, by the hour and committed", &words.plans, kRequired},
      {"--policies", "A,B", "all, or on-demand, constant, trailing-168, trailing-720, wang, optimal, berth",
       &words.policies},
      {"--reverse", "", "The hours in reverse order", &words.is_reversed},
      {"--report", "DIR", "Write a page with charts, DIR/index.html", &words.report},
      {"--format", "WORD", "table or json", &words.format},
  };
}

Result<CommitRequest> check_commit_options(const CommitWords& words) {
  if (words.demand.empty()) return invalid("--demand: wanted a file, found an empty path");
  if (words.plans.empty()) return invalid("--plans: wanted a file, found an empty path");
  if (words.report == "") return invalid("--report: wanted a folder, found an empty path");
  if (words.demand_format != "csv" && words.demand_format != "openb-pods") {
    return invalid("--demand-format: wanted csv or openb-pods, found " + in_quotes(words.demand_format));
  }
  const auto format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  CommitRequest request{.demand_path = words.demand,
                        .demand_format = words.demand_format == "csv" ? DemandFormat::kCsv : DemandFormat::kOpenbPods,
                        .plans_path = words.plans,
                        .policies = words.policies,
                        .is_reversed = words.is_reversed,
                        .format = *format,
                        .report_dir = words.report};
  if (request.policies == "all") request.policies.reset();
  return request;
}

}  // namespace berth::cli
