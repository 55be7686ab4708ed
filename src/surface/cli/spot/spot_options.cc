#include "surface/cli/spot/spot_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/core/decimal.h"
#include "base/core/first_error.h"
#include "base/core/text.h"
#include "surface/cli/shared/distinct_paths.h"
#include "surface/cli/shared/option_words.h"
#include "surface/cli/shared/report_folder.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kSecondsPerHour = 3600;
constexpr std::int64_t kHoursMax = 100'000;
constexpr std::int64_t kMicroPerUsd = 1'000'000;
constexpr std::int64_t kUsdMax = 1'000'000;

/// Hours that are whole seconds.
Result<std::int64_t> parse_hours(std::string_view option, std::string_view text, std::int64_t seconds_min) {
  const auto hours = Decimal::parse(text);
  const Decimal seconds = hours ? *hours * Decimal(kSecondsPerHour) : Decimal(-1);
  const bool is_one = hours && seconds.is_integer() && seconds >= Decimal(seconds_min) && *hours <= Decimal(kHoursMax);
  if (is_one) return seconds.floor();
  return invalid(fmt::format("{}: wanted a number of hours up to {} that is a whole number of seconds{}, found {}",
                             option, kHoursMax, seconds_min > 0 ? " above 0" : "", in_quotes(text)));
}

Result<std::vector<std::int64_t>> parse_list_of_hours(std::string_view option, std::string_view text,
                                                      std::int64_t seconds_min) {
  const auto words = split_words(option, text, "hours");
  if (!words) return pass_on(words.error());
  std::vector<std::int64_t> seconds;
  seconds.reserve(words->size());
  for (const std::string& word : *words) {
    const auto parsed = parse_hours(option, word, seconds_min);
    if (!parsed) return pass_on(parsed.error());
    if (std::ranges::find(seconds, *parsed) != seconds.end()) {
      return invalid(fmt::format("{}: wanted each once, found {} s twice", option, *parsed));
    }
    seconds.push_back(*parsed);
  }
  return seconds;
}

Result<std::int64_t> parse_price(std::string_view option, std::string_view text) {
  const auto usd = Decimal::parse(text);
  const Decimal micro_usd = usd ? *usd * Decimal(kMicroPerUsd) : Decimal(-1);
  if (usd && micro_usd.is_integer() && micro_usd.sign() > 0 && *usd <= Decimal(kUsdMax)) return micro_usd.floor();
  return invalid(
      fmt::format("{}: wanted dollars per hour above 0 and up to {}, with at most six digits behind the point, "
                  "found {}",
                  option, kUsdMax, in_quotes(text)));
}

Result<std::vector<purchase::SpotPolicy>> parse_spot_policies(std::string_view text) {
  std::vector<std::string> known;
  known.reserve(purchase::kSpotPolicies.size());
  for (const purchase::SpotPolicy policy : purchase::kSpotPolicies) known.emplace_back(purchase::name_of(policy));
  if (text == "all") return std::vector(purchase::kSpotPolicies.begin(), purchase::kSpotPolicies.end());
  const auto names = parse_policies(text, known);
  if (!names) return pass_on(names.error());
  std::vector<purchase::SpotPolicy> policies;
  policies.reserve(names->size());
  for (const std::string& name : *names) {
    const auto index = std::ranges::find(known, name) - known.begin();
    policies.push_back(purchase::kSpotPolicies[static_cast<std::size_t>(index)]);
  }
  return policies;
}

/// Each run must be possible on demand alone, with one restart.
Result<void> check_times(const purchase::SpotStudy& study) {
  const std::int64_t deadline = std::ranges::min(study.deadlines);
  const std::int64_t restart = std::ranges::max(study.restarts);
  if (study.task_seconds + restart <= deadline) return {};
  return invalid(fmt::format("--deadline-hours: wanted at least the task and a restart ({} s + {} s), found {} s",
                             study.task_seconds, restart, deadline));
}

}  // namespace

OptionTable spot_option_rows(SpotWords& words) {
  return {
      {"--windows", "FILE", "Recorded availability, a JSON object per line", &words.windows, kRequired},
      {"--policies", "A,B", "all, or on-demand, greedy, uniform-progress, optimal, berth", &words.policies},
      {"--task-hours", "H", "Work on one instance", &words.task_hours},
      {"--deadline-hours", "A,B", "When it must be done; each is tried", &words.deadline_hours},
      {"--restart-hours", "A,B", "What a change of instance takes; each is tried", &words.restart_hours},
      {"--on-demand", "USD", "Dollars per hour", &words.on_demand},
      {"--spot", "USD", "Dollars per hour", &words.spot},
      {"--zones", "WORD", "apart: each series is a market; together: all series of a window are one", &words.zones},
      {"--format", "WORD", "table or json", &words.format},
      {"--report", "DIR", "Write a page with charts, DIR/index.html", &words.report},
      {"--runs", "FILE", "Write a line for each run: what was held in each tick", &words.runs},
  };
}

Result<SpotRequest> check_spot_options(const SpotWords& words) {
  if (words.windows.empty()) return invalid("--windows: wanted a file, found an empty path");
  if (words.report == "") return invalid("--report: wanted a folder, found an empty path");
  if (words.runs == "") return invalid("--runs: wanted a file, found an empty path");
  const auto distinct = check_outputs_are_distinct(
      {{"--windows", words.windows}}, {{"--runs", words.runs}, {"--report", report_page_of(words.report)}});
  if (!distinct) return pass_on(distinct.error());
  if (words.zones != "apart" && words.zones != "together") {
    return invalid("--zones: wanted apart or together, found " + in_quotes(words.zones));
  }
  FirstError first;
  SpotRequest request{.windows_path = words.windows,
                      .policies = first.take(parse_spot_policies(words.policies)),
                      .study = {},
                      .are_zones_together = words.zones == "together",
                      .format = first.take(parse_format(words.format)),
                      .report_dir = words.report,
                      .runs_path = words.runs};
  request.study.task_seconds = first.take(parse_hours("--task-hours", words.task_hours, 1));
  request.study.deadlines = first.take(parse_list_of_hours("--deadline-hours", words.deadline_hours, 1));
  request.study.restarts = first.take(parse_list_of_hours("--restart-hours", words.restart_hours, 0));
  request.study.prices = {.on_demand_micro_usd = first.take(parse_price("--on-demand", words.on_demand)),
                          .spot_micro_usd = first.take(parse_price("--spot", words.spot))};
  if (!first.is_clear()) return first.passed_on();
  if (auto checked = check_times(request.study); !checked) return pass_on(checked.error());
  return request;
}

}  // namespace berth::cli
