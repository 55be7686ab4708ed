#include "surface/cli/replay/replay_options.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "policy/registry.h"
#include "study/replay.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

Result<std::uint64_t> parse_seed(std::string_view text) {
  const Result<std::int64_t> seed = parse_count(text, INT64_MAX);
  if (!seed) return invalid("--seed: " + seed.error().message);
  return static_cast<std::uint64_t>(*seed);
}

}  // namespace

Result<ReplayRequest> check_replay_options(const ReplayOptions& options) {
  ReplayRequest request{.scenario_path = options.scenario,
                        .policies = std::nullopt,
                        .report_dir = options.report,
                        .journal_path = options.journal,
                        .settings = {},
                        .has_timings = options.has_timings};
  if (options.scenario.empty()) return invalid("SCENARIO: wanted a path, found an empty one");
  if (options.report == "") return invalid("--report: wanted a folder, found an empty path");
  if (options.journal == "") return invalid("--journal: wanted a file, found an empty path");
  if (options.policies) {
    Result<std::vector<std::string>> policies = parse_policies(*options.policies, policy::names());
    if (!policies) return pass_on(policies.error());
    request.policies = std::move(*policies);
  }
  for (const std::string& parameter : options.parameters) {
    if (auto set = policy::set_parameter(request.settings, parameter); !set) {
      return invalid("--set: " + set.error().message);
    }
  }
  const Result<std::uint64_t> seed = parse_seed(options.seed);
  if (!seed) return pass_on(seed.error());
  request.seed = *seed;
  const Result<OutputFormat> format = parse_format(options.format);
  if (!format) return pass_on(format.error());
  request.format = *format;
  return request;
}

std::vector<std::string> policies_to_run(const ReplayRequest& request, const Scenario& scenario) {
  if (request.policies) return *request.policies;
  std::vector<std::string> names = policy::names();
  if (!scenario.layout) names.erase(std::remove(names.begin(), names.end(), "fixed"), names.end());
  return names;
}

}  // namespace berth::cli
