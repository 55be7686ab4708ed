#include "scenario/detail/fleet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "mig/catalogue.h"
#include "scenario/detail/rules.h"

namespace berth::scenario::detail {
namespace {

FleetEntry read_entry(const yaml::Value& value) {
  value.check_keys({"gpu", "count", "usd_per_gpu_hour"});
  FleetEntry entry;
  const std::string name = value.at("gpu").name();
  if (value.has_failed()) return entry;
  auto model = mig::find_gpu_model(name);
  if (!model) {
    value.at("gpu").fail(model.error().message);
    return entry;
  }
  entry.model = std::move(*model);
  if (value.at("count").is_written()) entry.count = value.at("count").whole({1, kGpuCountMax});
  const yaml::Value price = value.at("usd_per_gpu_hour");
  if (price.is_present())
    entry.usd_per_gpu_hour = price.number(yaml::number_from(Decimal(0), Decimal(kPlainNumberMax)));
  return entry;
}

std::string profile_names(const GpuModel& model) {
  std::vector<std::string> names;
  names.reserve(model.profiles.size() + 1);
  for (const MigProfile& profile : model.profiles) names.push_back(profile.name);
  names.emplace_back(kFullProfileName);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The service that a slice names, or none.
std::vector<ServiceId> read_holder(const yaml::Value& value, const std::map<std::string, ServiceId>& ids) {
  if (!value.is_present()) return {};
  const std::string name = value.name();
  if (value.has_failed()) return {};
  const auto found = ids.find(name);
  if (found != ids.end()) return {found->second};
  value.refuse("the name of a service");
  return {};
}

Holding read_holding(const yaml::Value& value, GpuId gpu, const Scenario& scenario,
                     const std::map<std::string, ServiceId>& ids, Occupied& occupied) {
  value.check_keys({"profile", "start", "service", "role"});
  Holding holding;
  holding.slice = read_slice(value, gpu, scenario, occupied);
  holding.services = read_holder(value.at("service"), ids);
  const yaml::Value role = value.at("role");
  if (role.is_written() && role.choice({"inference", "retraining"}) == 1) holding.role = Role::kRetraining;
  return holding;
}

}  // namespace

std::vector<FleetEntry> read_fleet(const yaml::Value& value) {
  std::vector<FleetEntry> fleet;
  std::int64_t count = 0;
  const std::vector<yaml::Value> items = value.items("a list of at least one GPU", false);
  if (items.size() > kFleetEntryCountMax) value.fail(fmt::format("wanted at most {} entries", kFleetEntryCountMax));
  for (const yaml::Value& item : items) {
    fleet.push_back(read_entry(item));
    if (value.has_failed()) return fleet;
    count += fleet.back().count;
    if (count > kGpuCountMax) item.fail(fmt::format("wanted at most {} GPUs in all, found {}", kGpuCountMax, count));
  }
  return fleet;
}

Slice read_slice(const yaml::Value& value, GpuId gpu, const Scenario& scenario, Occupied& occupied) {
  constexpr std::int64_t kStartMax = 1000;
  const std::string name = value.at("profile").name();
  Slice slice{gpu, static_cast<int>(value.at("start").whole({0, kStartMax})), {}};
  if (value.has_failed()) return slice;
  const GpuModel& model = scenario.model_of(gpu);
  const auto profile = mig::find_profile(model, name);
  if (!profile) {
    value.at("profile").refuse(fmt::format("a profile of {} ({})", model.name, profile_names(model)));
    return slice;
  }
  slice.profile = *profile;
  mig::State& state = occupied[gpu];
  if (const auto fault = mig::find_clash(model, {{slice.start, slice.profile}})) {
    value.at("start").fail(*fault);
    return slice;
  }
  state.push_back({slice.start, slice.profile});
  std::sort(state.begin(), state.end());
  if (const auto clash = mig::find_clash(model, state)) value.fail(fmt::format("GPU {}: {}", gpu.index, *clash));
  return slice;
}

GpuId read_gpu_id(const yaml::Value& value, const Scenario& scenario) {
  return GpuId{static_cast<std::uint32_t>(value.whole({0, scenario.gpu_count() - std::int64_t{1}}))};
}

std::vector<Holding> read_layout(const yaml::Value& value, const Scenario& scenario) {
  std::map<std::string, ServiceId> ids;
  for (std::uint32_t i = 0; i < scenario.services.size(); ++i) ids.emplace(scenario.services[i].name, ServiceId{i});
  std::vector<Holding> layout;
  Occupied occupied;
  for (const yaml::Value& entry : value.items("a list of GPUs with their slices")) {
    entry.check_keys({"gpu", "slices"});
    const GpuId gpu = read_gpu_id(entry.at("gpu"), scenario);
    for (const yaml::Value& slice : entry.at("slices").items("a list of slices")) {
      if (value.has_failed()) return layout;
      layout.push_back(read_holding(slice, gpu, scenario, ids, occupied));
    }
  }
  std::sort(layout.begin(), layout.end(), [](const Holding& a, const Holding& b) { return a.slice < b.slice; });
  return layout;
}

}  // namespace berth::scenario::detail
