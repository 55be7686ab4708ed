#include "surface/cli/replay/replay_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/core/text.h"
#include "domain/mig/catalogue.h"
#include "engine/policy/registry.h"
#include "sim/study/recorded_replay.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

Result<std::uint64_t> parse_seed(std::string_view text) {
  const Result<std::int64_t> seed = parse_count(text, INT64_MAX);
  if (!seed) return invalid("--seed: " + seed.error().message);
  return static_cast<std::uint64_t>(*seed);
}

/// mig::gpu_name_remark of "H100-80GB=2".
std::optional<std::string> added_gpus_remark(std::string_view text) {
  return mig::gpu_name_remark(text.substr(0, text.rfind('=')));
}

/// "A100-80GB=2".
Result<FleetEntry> parse_added_gpus(std::string_view text) {
  const std::size_t split = text.rfind('=');
  if (split == std::string_view::npos) {
    return invalid(fmt::format("--add-gpus: wanted MODEL=COUNT, such as A100-80GB=2, found {}", in_quotes(text)));
  }
  auto model = mig::find_gpu_model(text.substr(0, split));
  if (!model) return invalid("--add-gpus: " + model.error().message);
  const auto count = parse_count(text.substr(split + 1), kFleetGpusMax);
  if (!count) return invalid("--add-gpus: " + count.error().message);
  if (*count == 0) return invalid(fmt::format("--add-gpus: wanted a count of at least 1, found {}", in_quotes(text)));
  return FleetEntry{.model = *std::move(model), .count = *count, .usd_per_gpu_hour = std::nullopt};
}

/// Checks the source of the arrivals: a scenario, or a recorded window.
Result<void> check_source(const ReplayOptions& options, ReplayRequest& request) {
  if (options.journal_in) {
    if (options.scenario) {
      return invalid(fmt::format("wanted either SCENARIO or --journal-in, found both, {} and {}",
                                 in_quotes(*options.scenario), in_quotes(*options.journal_in)));
    }
    if (options.journal_in->empty()) return invalid("--journal-in: wanted a folder, found an empty path");
    request.recorded = {.folder = *options.journal_in, .from = options.from, .to = options.to};
  } else {
    if (!options.scenario) return invalid("wanted SCENARIO or --journal-in DIR, found neither");
    if (options.scenario->empty()) return invalid("SCENARIO: wanted a path, found an empty one");
    if (!options.from.empty()) return invalid("--from: wanted --journal-in, too");
    if (!options.to.empty()) return invalid("--to: wanted --journal-in, too");
    if (!options.added_gpus.empty()) return invalid("--add-gpus: wanted --journal-in, too");
  }
  for (const std::string& added : options.added_gpus) {
    auto entry = parse_added_gpus(added);
    if (!entry) return pass_on(entry.error());
    request.added_gpus.push_back(*std::move(entry));
  }
  return {};
}

std::vector<std::string> known_policies(bool is_recorded) {
  std::vector<std::string> names = policy::names();
  if (is_recorded) names.insert(names.begin(), std::string(study::kRecorded));
  return names;
}

}  // namespace

OptionTable replay_option_rows(ReplayOptions& words) {
  return {
      {"SCENARIO", "TEXT", "The scenario file (YAML; its keys: docs/reference/scenario.md)", &words.scenario},
      {"--journal-in", "DIR",
       "Instead of a scenario: what a berth up has recorded in its folder; the policy recorded is what really happened",
       &words.journal_in},
      {"--from", "TIME", "Of --journal-in: the first second; default: the first that is recorded", &words.from},
      {"--to", "TIME", "Of --journal-in: the second after the last; default: as far as is recorded", &words.to},
      {"--add-gpus",
       "MODEL=N",
       "Of --journal-in: more GPUs for the policies, may be repeated",
       &words.added_gpus,
       {.is_split = true, .remark = added_gpus_remark}},
      {"--policies", "A,B",
       "Which policies, such as shared,static-best; default: all; of --journal-in: recorded,berth,static-even",
       &words.policies},
      {"--seed", "N", "Seed of everything random, 0 to 2^63-1", &words.seed},
      {"--format", "WORD", "table or json", &words.format},
      {"--report", "DIR", "Write a page with charts, DIR/index.html", &words.report},
      {"--journal", "FILE", "Write every event, one JSON object per line", &words.journal},
      {"--set", "POLICY.NAME=VALUE", "A policy's parameter (docs/reference/policies.md), may be repeated",
       &words.parameters},
      {"--timings", "", "Also show wall-clock times (they differ from run to run)", &words.has_timings},
  };
}

Result<ReplayRequest> check_replay_options(const ReplayOptions& options) {
  ReplayRequest request{.scenario_path = options.scenario.value_or(""),
                        .recorded = std::nullopt,
                        .added_gpus = {},
                        .policies = std::nullopt,
                        .report_dir = options.report,
                        .journal_path = options.journal,
                        .settings = {},
                        .has_timings = options.has_timings};
  if (auto checked = check_source(options, request); !checked) return pass_on(checked.error());
  if (options.report == "") return invalid("--report: wanted a folder, found an empty path");
  if (options.journal == "") return invalid("--journal: wanted a file, found an empty path");
  if (options.policies) {
    Result<std::vector<std::string>> policies =
        parse_policies(*options.policies, known_policies(request.recorded.has_value()));
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
  if (request.recorded) return {std::string(study::kRecorded), "berth", "static-even"};
  std::vector<std::string> names = policy::names();
  if (!scenario.layout) names.erase(std::remove(names.begin(), names.end(), "fixed"), names.end());
  return names;
}

}  // namespace berth::cli
