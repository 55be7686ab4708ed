#include "surface/cli/plan/plan_options.h"

#include <fmt/format.h>

#include <string_view>

#include "base/core/text.h"
#include "planner/plan/steps.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kSecondMax = 1'000'000'000;
constexpr std::int64_t kReasonsMax = 1'000'000;

Result<std::int64_t> parse_in_range(std::string_view option, std::string_view text, std::int64_t max) {
  Result<std::int64_t> value = parse_count(text, max);
  if (value) return value;
  return invalid(fmt::format("{}: wanted a whole number from 0 to {}, found {}", option, max, in_quotes(text)));
}

Result<std::size_t> parse_reasons(std::string_view text) {
  if (text == "all") return planner::kAllReasons;
  const Result<std::int64_t> count = parse_count(text, kReasonsMax);
  if (count) return static_cast<std::size_t>(*count);
  return invalid(
      fmt::format("--reasons: wanted a whole number from 0 to {}, or all, found {}", kReasonsMax, in_quotes(text)));
}

}  // namespace

OptionTable plan_option_rows(PlanWords& words) {
  return {
      {"SCENARIO", "TEXT", "The scenario file (YAML; its keys: docs/reference/scenario.md)", &words.scenario,
       kRequired},
      {"--at", "SECONDS", "The second of the run at which the plan is made (required)", &words.at, kRequired},
      {"--seed", "N", "Seed of everything random, 0 to 2^63-1", &words.seed},
      {"--format", "WORD", "table or json", &words.format},
      {"--reasons", "N", "Steps whose reasons are computed, those with the largest gain; or all", &words.reasons},
      {"--explain", "", "Also show the arithmetic of each service's share", &words.is_explained},
      {"--timings", "", "Also show how long solving took (it differs from run to run)", &words.has_timings},
  };
}

Result<PlanRequest> check_plan_options(const PlanWords& words) {
  if (words.scenario.empty()) return invalid("SCENARIO: wanted a path, found an empty one");
  PlanRequest request;
  request.scenario_path = words.scenario;
  request.is_explained = words.is_explained;
  request.has_timings = words.has_timings;
  const Result<std::int64_t> at = parse_in_range("--at", words.at, kSecondMax);
  if (!at) return pass_on(at.error());
  request.at_second = *at;
  const Result<std::int64_t> seed = parse_in_range("--seed", words.seed, INT64_MAX);
  if (!seed) return pass_on(seed.error());
  request.seed = static_cast<std::uint64_t>(*seed);
  const Result<std::size_t> reasons = parse_reasons(words.reasons);
  if (!reasons) return pass_on(reasons.error());
  request.reasons = *reasons;
  const Result<OutputFormat> format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  request.format = *format;
  return request;
}

}  // namespace berth::cli
