#include "surface/cli/serve/simulate_run.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "serving/config/serve_config.h"
#include "serving/simulation/device_file.h"
#include "serving/simulation/policy_name.h"
#include "serving/simulation/requests_file.h"
#include "serving/simulation/study.h"
#include "surface/cli/serve/simulate_json.h"
#include "surface/cli/serve/simulate_table.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/run_outputs.h"

namespace berth::cli {
namespace {

using serving::EvictionRule;

/// The tenants of the configuration; absent without any.
Result<std::optional<std::vector<serving::TenantTerms>>> read_weights(const SimulateRequest& request,
                                                                      const Files& files) {
  std::optional<std::vector<serving::TenantTerms>> weights;
  if (!request.config_path) return weights;
  const auto text = files.read(*request.config_path);
  if (!text) return pass_on(text.error());
  const auto config = serving::read_serve_config(*text, *request.config_path);
  if (!config) return pass_on(config.error());
  if (config->tenants.empty()) return weights;
  weights.emplace();
  for (const serving::ConfiguredTenant& tenant : config->tenants) {
    weights->push_back({.name = tenant.name, .weight = tenant.weight});
  }
  return weights;
}

Result<serving::ServingCase> read_case(const SimulateRequest& request, const Files& files) {
  const auto device_text = files.read(request.device_path);
  if (!device_text) return pass_on(device_text.error());
  auto device = serving::read_device_file(*device_text, request.device_path);
  if (!device) return pass_on(device.error());
  const auto requests_text = files.read(request.requests_path);
  if (!requests_text) return pass_on(requests_text.error());
  auto recorded = serving::read_requests(*requests_text, request.requests_path);
  if (!recorded) return pass_on(recorded.error());
  const auto weights = read_weights(request, files);
  if (!weights) return pass_on(weights.error());
  return serving::make_case(std::move(*device), std::move(*recorded), *weights, request.device_path,
                            request.requests_path);
}

}  // namespace

Result<std::string> run_simulate(const SimulateRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const auto serving_case = read_case(request, *context.files);
  if (!serving_case) return pass_on(serving_case.error());
  outputs.begin();
  const auto lines = outputs.open_lines(request.log_path);
  if (!lines) return pass_on(lines.error());
  ProgressBar bar(context.progress(), static_cast<int>(request.policies.size()), steady_now);
  std::vector<PolicyOutcome> policies;
  for (const serving::DispatchPolicy& policy : request.policies) {
    bar.show(fmt::format("{:<16}", serving::name_of(policy)), static_cast<int>(policies.size()), 0);
    serving::RunListener listener;
    if ((*lines)->is_open()) {
      listener = [&](const serving::RunEvent& event) { (*lines)->add(simulate_log_line(event, *serving_case)); };
    }
    policies.push_back({.policy = policy,
                        .eviction = policy.rival ? EvictionRule::kLru : request.eviction,
                        .figures = serving::run_case(*serving_case, policy, request.eviction, listener)});
    if (!outputs.may_continue()) return pass_on(outputs.reason_of_stop());
  }
  bar.clear();
  return outputs.finish({.text =
                             [&] {
                               return request.format == OutputFormat::kJson
                                          ? simulate_json(*serving_case, policies)
                                          : simulate_table(*serving_case, policies, context.has_colour());
                             },
                         .page = {}});
}

}  // namespace berth::cli
