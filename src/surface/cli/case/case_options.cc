#include "surface/cli/case/case_options.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/first_error.h"
#include "base/core/text.h"
#include "domain/values/arrivals.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kMicroUsdMax = 1'000'000'000'000;

Result<std::optional<std::int64_t>> parse_optional_count(std::string_view option,
                                                         const std::optional<std::string>& text, std::int64_t max) {
  if (!text) return std::optional<std::int64_t>();
  const auto count = parse_count(*text, max);
  if (count) return std::optional(*count);
  return invalid(fmt::format("{}: {}", option, count.error().message));
}

}  // namespace

OptionTable case_option_rows(CaseWords& words) {
  return {
      {"SCENARIO", "TEXT", "The scenario file; its fleet has one GPU model with a price", &words.scenario, kRequired},
      {"--attainment", "SHARE", "Share of its requests that each service must answer in time, such as 0.99",
       &words.attainment, kRequired},
      {"--provision-seconds", "N", "From the order of a GPU until it is there; default: the scenario's",
       &words.provision_seconds},
      {"--committed-micro-usd-per-gpu-hour", "R",
       "Price of a GPU that is paid for all the time; adds the step commitments",
       &words.committed_micro_usd_per_gpu_hour},
      {"--seed", "N", "Seed of the run", &words.seed},
      {"--format", "WORD", "table or json", &words.format},
      {"--report", "DIR", "Write a page with charts, DIR/index.html", &words.report},
      {"--journal", "DIR", "Write what happened in each step, DIR/STEP.jsonl", &words.journal},
  };
}

Result<CaseRequest> check_case_options(const CaseWords& words) {
  if (words.scenario.empty()) return invalid("SCENARIO: wanted a path, found an empty one");
  if (words.report == "") return invalid("--report: wanted a folder, found an empty path");
  if (words.journal == "") return invalid("--journal: wanted a folder, found an empty path");
  FirstError first;
  CaseRequest request{.scenario_path = words.scenario,
                      .options = {},
                      .provision_seconds = first.take(
                          parse_optional_count("--provision-seconds", words.provision_seconds, kTraceSecondsMax)),
                      .format = first.take(parse_format(words.format)),
                      .report_dir = words.report,
                      .journal_dir = words.journal};
  request.options.attainment = first.take(parse_attainment(words.attainment));
  request.options.committed_micro_usd_per_gpu_hour = first.take(
      parse_optional_count("--committed-micro-usd-per-gpu-hour", words.committed_micro_usd_per_gpu_hour, kMicroUsdMax));
  const auto seed = first.take(parse_optional_count("--seed", words.seed, INT64_MAX));
  if (!first.is_clear()) return first.passed_on();
  request.options.seed = static_cast<std::uint64_t>(*seed);
  return request;
}

}  // namespace berth::cli
