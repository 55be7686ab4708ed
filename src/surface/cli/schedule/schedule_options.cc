#include "surface/cli/schedule/schedule_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/core/decimal.h"
#include "base/core/first_error.h"
#include "base/core/text.h"
#include "surface/cli/shared/distinct_paths.h"
#include "surface/cli/shared/option_words.h"
#include "surface/cli/shared/report_folder.h"

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

/// Reads the value of --slot, such as "gpus=8 hours=2 before=86400".
class SlotWords {
 public:
  static Result<sched::SlotWish> parse(std::string_view text) {
    SlotWords words;
    for (std::size_t begin = text.find_first_not_of(' '); begin != std::string_view::npos;) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      if (auto added = words.add(text.substr(begin, end - begin)); !added) return pass_on(added.error());
      begin = text.find_first_not_of(' ', end);
    }
    return words.wish();
  }

 private:
  Result<void> add(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    std::optional<std::string>* const value = key == "gpus"     ? &gpus_
                                              : key == "hours"  ? &hours_
                                              : key == "before" ? &before_
                                                                : nullptr;
    if (value == nullptr || equals == std::string_view::npos) {
      return invalid("--slot: wanted \"gpus=N hours=H before=SECONDS\", found " + in_quotes(word));
    }
    if (*value) return invalid(fmt::format("--slot: wanted {} once, found it twice", key));
    *value = word.substr(equals + 1);
    return {};
  }

  [[nodiscard]] Result<sched::SlotWish> wish() const {
    if (!gpus_ || !hours_) {
      return invalid(fmt::format("--slot: wanted gpus=N and hours=H, found no {}", gpus_ ? "hours" : "gpus"));
    }
    FirstError first;
    sched::SlotWish wish{.gpus = first.take(whole_option("--slot: gpus", *gpus_, 1, kScheduleNumberMax)),
                         .length = first.take(length_of(*hours_))};
    if (before_) wish.before = first.take(seconds_option("--slot: before", *before_, 0, kScheduleNumberMax));
    if (!first.is_clear()) return first.passed_on();
    return wish;
  }

  /// Whole seconds, rounded up.
  static Result<sched::Seconds> length_of(std::string_view hours) {
    const auto value = Decimal::parse(hours);
    if (!value || value->sign() <= 0 || *value > Decimal(kHoursMax)) {
      return invalid(
          fmt::format("--slot: hours: wanted a number above 0, at most {}, found {}", kHoursMax, in_quotes(hours)));
    }
    const Decimal seconds = *value * Decimal(3600);
    return seconds.floor() + (seconds.is_integer() ? 0 : 1);
  }

  static constexpr std::int64_t kHoursMax = 100'000;

  std::optional<std::string> gpus_;
  std::optional<std::string> hours_;
  std::optional<std::string> before_;
};

Result<std::optional<ScheduleQuestion>> parse_question(const JobScheduleWords& words) {
  if (!words.why && !words.slot) {
    if (words.at) return invalid("--at: wanted --why or --slot with it, found neither");
    return std::optional<ScheduleQuestion>();
  }
  if (words.why && words.slot) return invalid("--why: wanted one question, found --slot too");
  const std::string option = words.why ? "--why" : "--slot";
  if (!words.at) return invalid(option + ": wanted --at SECONDS with it, found none");
  if (words.log) return invalid("--log: wanted a whole run, found " + option);
  if (words.estimates) return invalid("--estimates: wanted a whole run, found " + option);
  if (words.report) return invalid("--report: wanted a whole run, found " + option);
  FirstError first;
  ScheduleQuestion question{.at = first.take(seconds_option("--at", *words.at, 0, kScheduleNumberMax)),
                            .why_job = words.why};
  if (words.slot) question.slot = first.take(SlotWords::parse(*words.slot));
  if (!first.is_clear()) return first.passed_on();
  return std::optional(std::move(question));
}

/// Answers to questions are JSON unless --format asks for a table.
Result<OutputFormat> schedule_format(const JobScheduleWords& words) {
  if (words.format) return parse_format(*words.format);
  return words.why || words.slot ? OutputFormat::kJson : OutputFormat::kTable;
}

Result<void> check_paths_of(const JobScheduleWords& words) {
  if (words.trace.empty()) return invalid("--trace: wanted a file, found an empty path");
  if (words.tenants == "") return invalid("--tenants: wanted a file, found an empty path");
  if (words.log == "") return invalid("--log: wanted a file, found an empty path");
  if (words.estimates == "") return invalid("--estimates: wanted a file, found an empty path");
  if (words.report == "") return invalid("--report: wanted a folder, found an empty path");
  return check_outputs_are_distinct(
      {{"--trace", words.trace}, {"--tenants", words.tenants}},
      {{"--log", words.log}, {"--estimates", words.estimates}, {"--report", report_page_of(words.report)}});
}

}  // namespace

OptionTable schedule_option_rows(JobScheduleWords& words) {
  return {
      {"--trace", "FILE", "The jobs", &words.trace, kRequired},
      {"--trace-format", "WORD", "own, philly or shockwave", &words.trace_format},
      {"--gpus", "N", "GPUs of the pool", &words.gpus, kRequired},
      {"--tenants", "FILE", "A CSV file: tenant,parent,guaranteed,limit,weight", &words.tenants},
      {"--policies", "A,B", "all, or fifo, skip, sjf, easy, las, srpt, fair, berth", &words.policies},
      {"--round-seconds", "S", "Seconds between decisions of las, srpt and fair", &words.round_seconds},
      {"--restart-seconds", "S", "Seconds without progress at each start after a preemption", &words.restart_seconds},
      {"--min-run-seconds", "S", "Seconds that a job runs before it may be preempted", &words.min_run_seconds},
      {"--reclaim-seconds", "S", "Seconds within which lent GPUs come back", &words.reclaim_seconds},
      {"--format", "WORD", "table or json [table; json for answers to questions]", &words.format},
      {"--log", "FILE", "Write each start, preemption and finish as a line of JSON", &words.log},
      {"--estimates", "FILE",
       "Write for each submit, under fifo, easy and berth, when the job is expected to start, as a line of JSON",
       &words.estimates},
      {"--report", "DIR", "Write a page with charts, DIR/index.html", &words.report},
      {"--why", "JOB", "Explain why this job waits at --at", &words.why},
      {"--slot", "TEXT", "Find when GPUs are free: \"gpus=8 hours=2 before=SECONDS\"", &words.slot},
      {"--at", "S", "The second, from the first submit, that is asked about", &words.at},
  };
}

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
      .format = first.take(schedule_format(words)),
      .log_path = words.log,
      .estimates_path = words.estimates,
      .report_dir = words.report,
      .question = first.take(parse_question(words))};
  if (!first.is_clear()) return first.passed_on();
  return request;
}

}  // namespace berth::cli
