#include "surface/cli/scale/scale_options.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/core/first_error.h"
#include "base/core/text.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

constexpr std::array kScaleFormats = {TraceFormat::kRpsText, TraceFormat::kCsv, TraceFormat::kAzureLlm};
/// The limits of scale::Problem.
constexpr std::int64_t kTimesMax = 1'000'000'000;
constexpr std::int64_t kPriceMax = 1'000'000'000'000;

Result<scale::ReplicaRate> parse_rate(std::string_view text) {
  const auto requests = Decimal::parse(text);
  auto rate = requests ? scale::ReplicaRate::of(*requests)
                       : Result<scale::ReplicaRate>(
                             invalid("wanted requests per second of a replica, a number, found " + in_quotes(text)));
  if (!rate) return invalid("--replica-rps: " + rate.error().message);
  return rate;
}

Result<std::vector<scale::Policy>> parse_scale_policies(std::string_view text) {
  if (text == "all") return std::vector(scale::kPolicies.begin(), scale::kPolicies.end());
  std::vector<std::string> known;
  known.reserve(scale::kPolicies.size());
  for (const scale::Policy policy : scale::kPolicies) known.emplace_back(scale::name_of(policy));
  const auto names = parse_policies(text, known);
  if (!names) return pass_on(names.error());
  std::vector<scale::Policy> policies;
  policies.reserve(names->size());
  for (const std::string& name : *names) policies.push_back(scale::policy_named(name).value());
  return policies;
}

}  // namespace

OptionTable scale_option_rows(ScaleWords& words) {
  return {
      {"--trace", "FILE", "The recorded trace, plain or gzip", &words.trace.path, kRequired},
      {"--trace-format", "WORD", "rps-text, csv or azure-llm", &words.trace.format, kRequired},
      {"--from-second", "N", "The first second of the run; those before it are history", &words.trace.from_second},
      {"--seconds", "N", "Length of the run; default: to the end of the trace", &words.trace.seconds},
      {"--replica-rps", "C", "Requests that a replica serves per second", &words.replica_rps, kRequired},
      {"--wait-seconds", "W", "How long a request may wait", &words.wait_seconds, kRequired},
      {"--start-seconds", "L", "How long a replica takes to be ready", &words.start_seconds, kRequired},
      {"--attainment", "SHARE", "The share of requests wanted in time", &words.attainment},
      {"--micro-usd-per-replica-hour", "P", "What a replica costs", &words.micro_usd_per_replica_hour},
      {"--policies", "A,B", "all, or target-tracking, bands, tuned, fixed, berth", &words.policies},
      {"--format", "WORD", "table or json", &words.format},
      {"--report", "DIR", "Write a page with charts, DIR/index.html", &words.report},
      {"--log", "FILE", "Write a line wherever a policy wants another number", &words.log},
  };
}

Result<ScaleRequest> check_scale_options(const ScaleWords& words) {
  if (words.report == "") return invalid("--report: wanted a folder, found an empty path");
  if (words.log == "") return invalid("--log: wanted a file, found an empty path");
  FirstError first;
  ScaleRequest request{
      .trace = first.take(check_trace_words(words.trace, kScaleFormats)),
      .rate = first.take(parse_rate(words.replica_rps)),
      .wait_seconds = first.take(seconds_option("--wait-seconds", words.wait_seconds, 0, kTimesMax)),
      .start_seconds = first.take(seconds_option("--start-seconds", words.start_seconds, 0, kTimesMax)),
      .attainment = first.take(parse_attainment(words.attainment)),
      .micro_usd_per_replica_hour = std::nullopt,
      .policies = first.take(parse_scale_policies(words.policies)),
      .format = first.take(parse_format(words.format)),
      .log_path = words.log,
      .report_dir = words.report};
  if (words.micro_usd_per_replica_hour) {
    request.micro_usd_per_replica_hour =
        first.take(whole_option("--micro-usd-per-replica-hour", *words.micro_usd_per_replica_hour, 0, kPriceMax));
  }
  if (!first.is_clear()) return first.passed_on();
  return request;
}

}  // namespace berth::cli
