#include "surface/cli/size_verb.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "scenario/load.h"
#include "surface/cli/interrupt.h"
#include "surface/cli/progress_bar.h"
#include "surface/cli/report_folder.h"
#include "surface/cli/size_json.h"
#include "surface/cli/size_table.h"

namespace berth::cli {
namespace {

Result<sim::SizeResult> size_policies(const SizeRequest& request, const Scenario& scenario, std::FILE* progress,
                                      const InterruptWatch& interrupt) {
  ProgressBar bar(progress, static_cast<int>(request.policies.size()), steady_now);
  sim::SizeResult result{.scenario = request.scenario_path,
                         .gpu_model = scenario.fleet.front().model.name,
                         .simulated_seconds = scenario.simulated_seconds(),
                         .objective = scenario.objective,
                         .options = request.options,
                         .policies = {}};
  result.policies.reserve(request.policies.size());
  for (std::size_t i = 0; i < request.policies.size(); ++i) {
    sim::SizeHooks hooks;
    hooks.progress = [&](std::string_view policy, std::int64_t gpus, double done) {
      bar.show(fmt::format("{:<11} with {:<8}", policy, sim::counted_gpus(gpus)), static_cast<int>(i), done);
      return !interrupt.is_interrupted();
    };
    Result<sim::PolicySize> policy = sim::size_policy(scenario, request.policies[i], request.options, hooks);
    if (!policy) return pass_on(policy.error());
    result.policies.push_back(std::move(*policy));
  }
  return result;
}

std::string printed_size(OutputFormat format, const sim::SizeResult& result, bool has_colour) {
  switch (format) {
    case OutputFormat::kJson:
      return size_json(result);
    case OutputFormat::kTable:
      return size_table(result, has_colour);
  }
  return {};
}

}  // namespace

Result<std::string> run_size(const SizeRequest& request, const SizeSurroundings& surroundings) {
  InterruptWatch interrupt;
  const Result<Scenario> scenario = scenario::load_scenario(request.scenario_path, surroundings.files);
  if (!scenario) return pass_on(scenario.error());
  if (Result<void> sizable = sim::check_sizable(*scenario); !sizable) return pass_on(sizable.error());
  interrupt.defer();
  ReportFolder folder;
  if (request.report_dir) {
    if (Result<void> made = folder.make(*request.report_dir); !made) return pass_on(made.error());
  }
  const Result<sim::SizeResult> result = size_policies(request, *scenario, surroundings.progress, interrupt);
  if (interrupt.is_interrupted()) return pass_on(interrupted_error());
  if (!result) return pass_on(result.error());
  std::string text = printed_size(request.format, *result, surroundings.has_colour);
  const std::string page = request.report_dir ? surroundings.render_report(*result) : "";
  if (interrupt.is_interrupted()) return pass_on(interrupted_error());
  if (request.report_dir) {
    if (Result<void> done = folder.write_page(page); !done) return pass_on(done.error());
  }
  return text;
}

}  // namespace berth::cli
