#include "domain/scenario/detail/tier_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "domain/mig/catalogue.h"
#include "domain/scenario/service_keys.h"
#include "domain/values/gpu_name.h"

namespace berth::scenario::detail {
namespace {

/// The full name of the GPU model that a value names.
std::string full_gpu_name(const yaml::Value& value) {
  const std::string name = value.name();
  if (value.has_failed()) return {};
  auto model = mig::find_gpu_model(name);
  if (model) return model->name;
  value.fail(model.error().message);
  return {};
}

std::string fleet_models(const Scenario& scenario) {
  std::set<std::string> names;
  for (const FleetEntry& entry : scenario.fleet) names.insert(entry.model.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_pins(const yaml::Value& service, const Scenario& scenario, const ServiceSpec& spec, const TierRule& rule) {
  for (const Pin& pin : spec.pins) {
    const std::string& model = scenario.model_of(pin.slice.gpu).name;
    if (rule.is_auto) {
      service.at("pins").fail(fmt::format("wanted none, because {} is auto, found a slice on {}",
                                          service.at("tier").path(), gpu_name(pin.slice.gpu)));
    } else if (!rule.allows(model)) {
      service.at("pins").fail(
          fmt::format("wanted slices on GPUs of the model {} ({}.gpu), found one on {}, of the model {}", rule.gpu,
                      service.at("tier").path(), gpu_name(pin.slice.gpu), model));
    }
  }
}

/// `auto` compares prices, so every entry of the fleet needs one.
void check_prices(const yaml::Value& tier, const Scenario& scenario) {
  for (std::size_t index = 0; index < scenario.fleet.size(); ++index) {
    if (scenario.fleet[index].usd_per_gpu_hour) continue;
    tier.fail(fmt::format("wanted fleet[{}].usd_per_gpu_hour, which auto needs for every entry, found none for {}",
                          index, scenario.fleet[index].model.name));
    return;
  }
}

void read_tier(const yaml::Value& tier, const Scenario& scenario, TierRule& rule) {
  if (!tier.is_present()) return;
  if (!tier.is_map()) {
    constexpr const char* kWanted = "auto, or a map {gpu: MODEL}";
    if (tier.text(kWanted) != "auto") return tier.refuse(kWanted);
    rule.is_auto = true;
    return check_prices(tier, scenario);
  }
  tier.check_keys(key_names("tier"));
  rule.gpu = full_gpu_name(tier.at("gpu"));
  if (tier.has_failed() || scenario.fleet.empty()) return;
  const auto has_model = [&](const FleetEntry& entry) { return entry.model.name == rule.gpu; };
  if (std::ranges::any_of(scenario.fleet, has_model)) return;
  tier.at("gpu").refuse(fmt::format("a GPU model of the fleet ({})", fleet_models(scenario)));
}

void read_known_on(const yaml::Value& value, const ServiceSpec& spec, TierRule& rule) {
  if (!value.is_present()) return;
  for (const yaml::Value& item : value.items("a list of at least one GPU model", false)) {
    std::string name = full_gpu_name(item);
    if (value.has_failed()) return;
    if (std::ranges::find(spec.table.points, name, &PerformancePoint::gpu) == spec.table.points.end()) {
      return item.refuse("a GPU model for which the service's profile has rows");
    }
    if (std::ranges::find(rule.known_on, name) != rule.known_on.end()) {
      return item.refuse("a GPU model that is not in the list before");
    }
    rule.known_on.push_back(std::move(name));
  }
  std::ranges::sort(rule.known_on);
}

}  // namespace

TierRule read_tier_rule(const yaml::Value& service, const Scenario& scenario, const ServiceSpec& spec) {
  TierRule rule;
  if (service.has_failed()) return rule;
  read_tier(service.at("tier"), scenario, rule);
  if (service.has_failed()) return rule;
  check_pins(service, scenario, spec, rule);
  if (service.has_failed()) return rule;
  read_known_on(service.at("known_on"), spec, rule);
  return rule;
}

TierSettings read_tier_settings(const yaml::Value& root, Sources& sources) {
  TierSettings settings;
  const yaml::Value sure = root.at("tier_sure");
  if (sure.is_written()) settings.sure = sure.number(yaml::number_between(Decimal(0), Decimal(1)));
  const yaml::Value forest = root.at("tier_model");
  if (!forest.is_present() || root.has_failed()) return settings;
  const auto file = sources.read(forest);
  if (!file) return settings;
  settings.forest_file = file->path;
  settings.forest = std::make_shared<const std::string>(*file->text);
  return settings;
}

void check_tiers_of_layout(const yaml::Value& layout, const Scenario& scenario) {
  if (!scenario.layout) return;
  for (const Holding& holding : *scenario.layout) {
    const std::string& model = scenario.model_of(holding.slice.gpu).name;
    for (const ServiceId service : holding.services) {
      const TierRule& rule = scenario.services[service.index].tier;
      if (rule.allows(model)) continue;
      return layout.fail(fmt::format(
          "wanted slices of {} on GPUs of the model {} (services[{}].tier.gpu), found one "
          "on {}, of the model {}",
          scenario.services[service.index].name, rule.gpu, service.index, gpu_name(holding.slice.gpu), model));
    }
  }
}

}  // namespace berth::scenario::detail
