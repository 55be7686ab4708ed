#include "surface/cli/up/stated_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "surface/cli/shared/config_file.h"
#include "surface/cli/shared/config_keys.h"

namespace berth::cli {
namespace {

/// Typed options override written ones.
UpOptions merged(const UpOptions& typed, const UpOptions& written) {
  UpOptions both = typed;
  for (const ConfigKey& key : config_keys()) {
    if (key.option != nullptr && !(both.*key.option)) both.*key.option = written.*key.option;
  }
  return both;
}

/// Sorted, because the order of GPUs in a file has no meaning.
std::string manage_words(const std::vector<device::ManagedGpu>& manage) {
  if (manage.empty()) return "none";
  std::vector<std::string> words;
  words.reserve(manage.size());
  for (const device::ManagedGpu& gpu : manage) words.push_back(gpu.uuid + (gpu.has_mig_mode ? " with mig_mode" : ""));
  std::ranges::sort(words);
  return fmt::format("{}", fmt::join(words, ", "));
}

Result<health::XidPolicy> read_policy_file(const std::string& path, const Files& files) {
  const auto text = files.read(path);
  if (!text) return pass_on(text.error());
  return health::read_xid_policy(*text, path);
}

}  // namespace

Result<StatedRequest> read_up_request(const UpOptions& typed, const Files& files) {
  if (!typed.config) {
    auto request = check_up_options(typed);
    if (!request) return pass_on(request.error());
    return StatedRequest{.request = std::move(*request), .stated = typed};
  }
  if (typed.config->empty()) return invalid("--config: wanted a file, found \"\"");
  const auto text = files.read(*typed.config);
  if (!text) return pass_on(text.error());
  auto config = read_config(*text, *typed.config);
  if (!config) return pass_on(config.error());
  UpOptions stated = merged(typed, config->options);
  auto request = check_up_options(stated);
  if (!request) return pass_on(request.error());
  request->retention = config->retention;
  request->series_max = config->series_max;
  request->no_changes = std::move(config->no_changes);
  request->tier_sure = std::move(config->tier_sure);
  request->tier_model = std::move(config->tier_model);
  request->learns_speed = config->learns_speed;
  request->is_health_dry_run = config->is_health_dry_run;
  if (config->xid_policy) {
    auto policy = read_policy_file(*config->xid_policy, files);
    if (!policy) return pass_on(policy.error());
    request->xid_policy = *std::move(policy);
  }
  request->hostname_label = std::move(config->hostname_label);
  request->manage = std::move(config->manage);
  request->manage_places = std::move(config->manage_places);
  request->simulated_devices = config->programs.simulated_devices;
  return StatedRequest{.request = std::move(*request), .stated = std::move(stated)};
}

std::vector<live::UnappliedKey> find_unapplied(const StatedRequest& running, const StatedRequest& read) {
  std::vector<live::UnappliedKey> unapplied;
  const auto compare = [&](std::string_view name, ConfigReload reload, std::string before, std::string after) {
    if (before == after) return;
    unapplied.push_back({.name = std::string(name),
                         .in_force = std::move(before),
                         .found = std::move(after),
                         .is_of_world = reload == ConfigReload::kWorld});
  };
  for (const ConfigKey& key : config_keys()) {
    if (key.option == nullptr) continue;
    const auto shown = [&](const UpOptions& options) {
      return (options.*key.option).value_or(key.fallback.empty() ? "none" : std::string(key.fallback));
    };
    compare(key.name, key.reload, shown(running.stated), shown(read.stated));
  }
  compare("metrics.series_max", ConfigReload::kRestart, fmt::format("{}", running.request.series_max),
          fmt::format("{}", read.request.series_max));
  compare("device_metrics.hostname_label", ConfigReload::kRestart, running.request.hostname_label,
          read.request.hostname_label);
  const auto sure_words = [](const std::optional<Decimal>& sure) { return sure ? sure->to_string() : "none"; };
  compare("tier_sure", ConfigReload::kWorld, sure_words(running.request.tier_sure), sure_words(read.request.tier_sure));
  compare("tier_model", ConfigReload::kWorld, running.request.tier_model.value_or("none"),
          read.request.tier_model.value_or("none"));
  const auto truth = [](const StatedRequest& stated) { return stated.request.learns_speed ? "true" : "false"; };
  compare("learn_speed", ConfigReload::kRestart, truth(running), truth(read));
  const auto policy_words = [](const StatedRequest& stated) {
    const auto& policy = stated.request.xid_policy;
    return policy ? fmt::format("{} of {}", policy->source, policy->as_of) : "the built-in one";
  };
  compare("health.policy", ConfigReload::kRestart, policy_words(running), policy_words(read));
  const auto dry_run = [](const StatedRequest& stated) { return stated.request.is_health_dry_run ? "true" : "false"; };
  compare("health.dry_run", ConfigReload::kRestart, dry_run(running), dry_run(read));
  compare("manage", ConfigReload::kRestart, manage_words(running.request.manage), manage_words(read.request.manage));
  return unapplied;
}

Result<live::RereadConfig> read_config_again(const UpOptions& typed, const StatedRequest& running, const Files& files) {
  auto read = read_up_request(typed, files);
  if (!read) return pass_on(read.error());
  return live::RereadConfig{.retention = read->request.retention,
                            .no_changes = read->request.no_changes.value_or(std::vector<WeekSpan>()),
                            .unapplied = find_unapplied(running, *read)};
}

}  // namespace berth::cli
