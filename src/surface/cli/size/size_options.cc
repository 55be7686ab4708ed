#include "surface/cli/size/size_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "base/core/text.h"
#include "engine/policy/registry.h"
#include "sim/study/replay.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

Result<std::int64_t> parse_from_one(std::string_view option, std::string_view text, std::int64_t max) {
  Result<std::int64_t> count = parse_count(text, max);
  if (count && *count >= 1) return count;
  return invalid(fmt::format("{}: wanted a whole number from 1 to {}, found {}", option, max, in_quotes(text)));
}

/// What most teams do, the simplest partition, and our planner: the questions of most users.
const std::vector<std::string>& policies_by_default() {
  static const std::vector<std::string> names = {"shared", "whole", "static-even", "berth"};
  return names;
}

Result<std::vector<std::string>> parse_sizable_policies(std::string_view text) {
  if (text == "all") return policy::sizable_names();
  Result<std::vector<std::string>> names = parse_policies(text, policy::sizable_names());
  const Result<std::vector<std::string>> with_fixed = parse_policies(text, policy::names());
  if (!names && with_fixed) {
    return invalid("--policies: fixed cannot be sized: its layout is written for the number of GPUs in the file");
  }
  return names;
}

}  // namespace

OptionTable size_option_rows(SizeWords& words) {
  return {
      {"SCENARIO", "TEXT", "The scenario file; its fleet has one GPU model, whose count is searched", &words.scenario,
       kRequired},
      {"--attainment", "SHARE", "Share of its requests that each service must answer in time, such as 0.99",
       &words.attainment, kRequired},
      {"--policies", "A,B",
       "Which policies, such as shared,paris; all: all but fixed; default: shared,whole,static-even,berth",
       &words.policies},
      {"--max-gpus", "N", "The largest count to try", &words.gpus_max},
      {"--seeds", "K", "How many seeds (1, 2, ..) must agree; default: 3, without --policies 1", &words.seed_count},
      {"--ideas", "", "Also show how many GPUs slices, operating points and further features save, added one by one",
       &words.has_ideas},
      {"--set", "POLICY.NAME=VALUE", "A policy's parameter (docs/reference/policies.md), may be repeated",
       &words.parameters},
      {"--format", "WORD", "table or json", &words.format},
      {"--report", "DIR", "Write a page that compares the answers, DIR/index.html", &words.report},
  };
}

Result<SizeRequest> check_size_options(const SizeWords& words) {
  SizeRequest request{.scenario_path = words.scenario,
                      .policies = policies_by_default(),
                      .options = {},
                      .settings = {},
                      .has_ideas = words.has_ideas,
                      .report_dir = words.report};
  if (words.scenario.empty()) return invalid("SCENARIO: wanted a path, found an empty one");
  if (words.report == "") return invalid("--report: wanted a folder, found an empty path");
  Result<Decimal> attainment = parse_attainment(words.attainment);
  if (!attainment) return pass_on(attainment.error());
  request.options.attainment = std::move(*attainment);
  if (words.policies) {
    Result<std::vector<std::string>> policies = parse_sizable_policies(*words.policies);
    if (!policies) return pass_on(policies.error());
    request.policies = std::move(*policies);
  }
  const Result<std::int64_t> gpus_max = parse_from_one("--max-gpus", words.gpus_max, kSizedGpusMax);
  if (!gpus_max) return pass_on(gpus_max.error());
  request.options.gpus_max = *gpus_max;
  const std::string seeds_by_default = words.policies ? "3" : "1";
  const Result<std::int64_t> seed_count =
      parse_from_one("--seeds", words.seed_count.value_or(seeds_by_default), kSizeSeedsMax);
  if (!seed_count) return pass_on(seed_count.error());
  request.options.seeds.resize(static_cast<std::size_t>(*seed_count));
  for (std::size_t i = 0; i < request.options.seeds.size(); ++i) request.options.seeds[i] = i + 1;
  for (const std::string& parameter : words.parameters) {
    if (auto set = policy::set_parameter(request.settings, parameter); !set) {
      return invalid("--set: " + set.error().message);
    }
  }
  const Result<OutputFormat> format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  request.format = *format;
  return request;
}

}  // namespace berth::cli
