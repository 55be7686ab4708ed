#include "surface/cli/schedule/schedule_options.h"

#include <algorithm>
#include <string_view>

#include "base/first_error.h"
#include "base/text.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kScheduleNumberMax = 1'000'000'000;

Result<JobListFormat> parse_trace_format(std::string_view text) {
  if (text == "own") return JobListFormat::kOwn;
  if (text == "philly") return JobListFormat::kPhilly;
  if (text == "shockwave") return JobListFormat::kShockwave;
  return invalid("--trace-format: wanted own, philly or shockwave, found " + in_quotes(text));
}

Result<std::vector<sched::Policy>> parse_schedule_policies(std::string_view text) {
  if (text == "all") return std::vector(sched::kPolicies.begin(), sched::kPolicies.end());
  std::vector<std::string> known;
  known.reserve(sched::kPolicies.size());
  for (const sched::Policy policy : sched::kPolicies) known.emplace_back(sched::name_of(policy));
  const auto names = parse_policies(text, known);
  if (!names) return pass_on(names.error());
  std::vector<sched::Policy> policies;
  policies.reserve(names->size());
  for (const std::string& name : *names) {
    policies.push_back(sched::kPolicies[static_cast<std::size_t>(std::ranges::find(known, name) - known.begin())]);
  }
  return policies;
}

Result<void> check_paths_of(const JobScheduleWords& words) {
  if (words.trace.empty()) return invalid("--trace: wanted a file, found an empty path");
  if (words.tenants == "") return invalid("--tenants: wanted a file, found an empty path");
  if (words.log == "") return invalid("--log: wanted a file, found an empty path");
  return {};
}

}  // namespace

Result<ScheduleRequest> check_schedule_options(const JobScheduleWords& words) {
  if (auto checked = check_paths_of(words); !checked) return pass_on(checked.error());
  FirstError first;
  ScheduleRequest request{
      .trace_path = words.trace,
      .trace_format = first.take(parse_trace_format(words.trace_format)),
      .gpus = first.take(whole_option("--gpus", words.gpus, 1, kScheduleNumberMax)),
      .tenants_path = words.tenants,
      .policies = first.take(parse_schedule_policies(words.policies)),
      .terms =
          {.round = first.take(seconds_option("--round-seconds", words.round_seconds, 1, kScheduleNumberMax)),
           .restart = first.take(seconds_option("--restart-seconds", words.restart_seconds, 0, kScheduleNumberMax)),
           .min_run = first.take(seconds_option("--min-run-seconds", words.min_run_seconds, 0, kScheduleNumberMax)),
           .reclaim = first.take(seconds_option("--reclaim-seconds", words.reclaim_seconds, 0, kScheduleNumberMax))},
      .format = first.take(parse_format(words.format)),
      .log_path = words.log};
  if (!first.is_clear()) return first.passed_on();
  return request;
}

}  // namespace berth::cli
