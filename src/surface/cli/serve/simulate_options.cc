#include "surface/cli/serve/simulate_options.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/first_error.h"
#include "serving/simulation/policy_name.h"
#include "surface/cli/shared/distinct_paths.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

Result<std::vector<serving::DispatchPolicy>> parse_serving_policies(std::string_view text) {
  const auto words = split_words("--policies", text, "policies");
  if (!words) return pass_on(words.error());
  std::vector<serving::DispatchPolicy> policies;
  for (const std::string& word : *words) {
    const auto policy = serving::parse_policy(word);
    if (!policy) return invalid("--policies: " + policy.error().message);
    for (const serving::DispatchPolicy& other : policies) {
      if (other == *policy) return invalid("--policies: wanted each once, found " + serving::name_of(other) + " twice");
    }
    policies.push_back(*policy);
  }
  return policies;
}

}  // namespace

OptionTable simulate_option_rows(SimulateWords& words) {
  return {
      {"--device", "FILE", "The simulated device: lanes, memory, latencies of its models (YAML)", &words.device,
       kRequired},
      {"--requests", "FILE", "The requests: time_us,model,tenant,target_us,priority (CSV)", &words.requests, kRequired},
      {"--config", "FILE", "Tenants and their weights (YAML); else each has weight 1", &words.config},
      {"--policies", "A,B", "berth, eager, delay:MICROSECONDS, aimd", &words.policies},
      {"--evict", "WORD", "What makes room for a load of berth: value, lru, or warm (also preloads)", &words.evict},
      {"--format", "WORD", "table or json", &words.format},
      {"--log", "FILE", "Write a line for each batch, load, eviction, rejection and drop; one policy only", &words.log},
  };
}

Result<SimulateRequest> check_simulate_options(const SimulateWords& words) {
  if (words.device.empty()) return invalid("--device: wanted a file, found an empty path");
  if (words.requests.empty()) return invalid("--requests: wanted a file, found an empty path");
  if (words.config == "") return invalid("--config: wanted a file, found an empty path");
  if (words.log == "") return invalid("--log: wanted a file, found an empty path");
  const auto distinct = check_outputs_are_distinct(
      {{"--device", words.device}, {"--requests", words.requests}, {"--config", words.config}}, {{"--log", words.log}});
  if (!distinct) return pass_on(distinct.error());
  const auto eviction = serving::parse_eviction(words.evict);
  if (!eviction) return invalid("--evict: " + eviction.error().message);
  FirstError first;
  SimulateRequest request{.device_path = words.device,
                          .requests_path = words.requests,
                          .config_path = words.config,
                          .policies = first.take(parse_serving_policies(words.policies)),
                          .eviction = *eviction,
                          .format = first.take(parse_format(words.format)),
                          .log_path = words.log};
  if (!first.is_clear()) return first.passed_on();
  if (request.log_path && request.policies.size() > 1) {
    return invalid(fmt::format("--log: wanted one policy, found {}", request.policies.size()));
  }
  return request;
}

}  // namespace berth::cli
