#include "surface/cli/size/size_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/scenario/load.h"
#include "engine/policy/registry.h"
#include "sim/study/size_ideas.h"
#include "surface/cli/shared/expected_duration.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/cli/size/size_json.h"
#include "surface/cli/size/size_table.h"
#include "surface/pages/size_report.h"
#include "tier/enforce/forest_speeds.h"

namespace berth::cli {
namespace {

/// Of the policies and steps, in their order.
std::vector<double> sizing_durations(const SizeRequest& request, const std::vector<study::Idea>& ideas) {
  std::vector<double> durations;
  const auto add = [&](std::string_view policy, const policy::Settings& settings) {
    durations.push_back(expected_replay_duration(policy::policy_named(policy), settings));
  };
  for (const std::string& name : request.policies) add(name, request.settings);
  for (const study::Idea& idea : ideas) add(idea.policy, study::settings_of(idea, request.settings));
  return durations;
}

/// Sizes policies and steps in sequence and shows progress.
class Sizing {
 public:
  Sizing(const SizeRequest& request, const Scenario& scenario, ProgressOutput progress, const RunOutputs& outputs)
      : request_(request),
        scenario_(scenario),
        outputs_(outputs),
        ideas_(request.has_ideas ? study::ideas_of(scenario) : std::vector<study::Idea>()),
        bar_(progress, sizing_durations(request, ideas_), steady_now),
        result_{.scenario = request.scenario_path,
                .gpu_model = scenario.fleet.front().model.name,
                .simulated_seconds = scenario.simulated_seconds(),
                .objective = scenario.objective,
                .options = request.options,
                .usd_per_gpu_hour = scenario.fleet.front().usd_per_gpu_hour,
                .policies = {},
                .ideas = {}} {}

  Result<study::SizeResult> run() {
    result_.policies.reserve(request_.policies.size());
    for (const std::string& name : request_.policies) {
      Result<study::PolicySize> size = sized(name, request_.settings);
      if (!size) return pass_on(size.error());
      note(name, *size);
      result_.policies.push_back(std::move(*size));
    }
    result_.ideas.reserve(ideas_.size());
    for (const study::Idea& idea : ideas_) {
      Result<study::PolicySize> size = sized(idea);
      if (!size) return pass_on(size.error());
      note(idea.adds, *size);
      result_.ideas.push_back({.adds = std::string(idea.adds),
                               .without = {idea.without.begin(), idea.without.end()},
                               .size = std::move(*size)});
    }
    return std::move(result_);
  }

 private:
  Result<study::PolicySize> sized(std::string_view policy, const policy::Settings& settings) {
    study::SizeHooks hooks;
    hooks.progress = [&](std::string_view name, std::int64_t gpus, double done) {
      bar_.show(fmt::format("{:<11} with {:<8}", name, study::counted_gpus(gpus)), done_, done, passed(gpus, done));
      return outputs_.may_continue();
    };
    Result<study::PolicySize> size = study::size_policy(scenario_, policy, request_.options, hooks, settings);
    ++done_;
    return size;
  }

  /// A guess of the share of a search that has passed while a count is tried: other policies need about as many GPUs
  /// as the last one, the count above the answer is tried too, and a replay takes as long as its GPUs are many.
  [[nodiscard]] double passed(std::int64_t gpus, double done) const {
    const auto sum_up_to = [](double count) { return count * (count + 1) / 2; };
    const auto count = static_cast<double>(gpus);
    const double last = std::max(static_cast<double>(gpus_guessed_), count) + 1;
    return (sum_up_to(count - 1) + count * done) / sum_up_to(last);
  }

  /// Reports an answer before the table with all.
  void note(std::string_view name, const study::PolicySize& size) {
    if (size.gpus) gpus_guessed_ = *size.gpus;
    bar_.note(size.gpus ? fmt::format("berth: {}: {}{}", name, size.is_smallest_proven ? "" : "at most ",
                                      study::counted_gpus(*size.gpus))
                        : fmt::format("berth: {}: {}", name, size.infeasible.value_or("no answer")));
  }

  /// The answer for a step. A step without parameters at 0 may be one of the policies that were sized already.
  Result<study::PolicySize> sized(const study::Idea& idea) {
    const auto known = std::ranges::find(result_.policies, idea.policy, &study::PolicySize::name);
    if (!idea.without.empty() || known == result_.policies.end()) {
      return sized(idea.policy, study::settings_of(idea, request_.settings));
    }
    ++done_;
    return *known;
  }

  const SizeRequest& request_;
  const Scenario& scenario_;
  const RunOutputs& outputs_;
  std::vector<study::Idea> ideas_;
  ProgressBar bar_;
  study::SizeResult result_;
  int done_ = 0;
  std::int64_t gpus_guessed_ = 4;  ///< of the next answer
};

std::string printed_size(OutputFormat format, const study::SizeResult& result, bool has_colour) {
  switch (format) {
    case OutputFormat::kJson:
      return size_json(result);
    case OutputFormat::kTable:
      return size_table(result, has_colour);
  }
  return {};
}

}  // namespace

Result<std::string> run_size(const SizeRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const auto loaded = scenario::load_scenario_with_warnings(request.scenario_path, *context.files);
  if (!loaded) return pass_on(loaded.error());
  if (const auto model = tier::read_tier_model(loaded->value.tiers); !model) return pass_on(model.error());
  print_warnings(loaded->warnings, context.err);
  const Scenario& scenario = loaded->value;
  if (Result<void> sizable = study::check_sizable(scenario); !sizable) return pass_on(sizable.error());
  outputs.begin();
  if (Result<void> opened = outputs.open_report(request.report_dir); !opened) return pass_on(opened.error());
  const Result<study::SizeResult> result = Sizing(request, scenario, context.progress(), outputs).run();
  if (outputs.is_interrupted()) return pass_on(interrupted_error());
  if (!result) return pass_on(result.error());
  return outputs.finish({.text = [&] { return printed_size(request.format, *result, context.has_colour()); },
                         .page = [&] { return report::render_size_report(*result); }});
}

}  // namespace berth::cli
