#include "domain/scenario/detail/fleet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "domain/mig/catalogue.h"
#include "domain/scenario/detail/rules.h"
#include "domain/values/gpu_name.h"

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
  if (const auto remark = mig::gpu_name_remark(name))
    value.warn(fmt::format("{}: {}", value.at("gpu").where(), *remark));
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

/// The profile of that name, which was read from the key `profile` of `value`.
ProfileId read_profile_id(const yaml::Value& value, const std::string& name, const GpuModel& model) {
  const auto profile = mig::find_profile(model, name);
  if (profile) return *profile;
  value.at("profile").refuse(fmt::format("a profile of {} ({})", model.name, profile_names(model)));
  return {};
}

std::string starts_shown(const GpuModel& model, const Slice& slice) {
  if (slice.profile.is_full()) return "0";
  return fmt::format("{}", fmt::join(model.profiles[slice.profile.index].starts, ", "));
}

/// Adds a slice that is legal alone to those of its GPU. Fails at `value` if it clashes with one of them.
void occupy(const yaml::Value& value, const Slice& slice, const GpuModel& model, mig::State& state) {
  state.push_back({slice.start, slice.profile});
  std::sort(state.begin(), state.end());
  if (const auto clash = mig::find_clash(model, state)) {
    value.fail(fmt::format("{}: {}", gpu_name(slice.gpu), *clash), "a slice that can exist with the others of its GPU",
               fmt::format("{}@{}", profile_name(model, slice.profile), slice.start));
  }
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

/// How many GPUs from `gpu` on an entry of the layout describes.
std::int64_t read_gpu_count(const yaml::Value& value, GpuId gpu, const Scenario& scenario) {
  if (!value.is_written() || value.has_failed()) return 1;
  return value.whole({1, std::int64_t{scenario.gpu_count()} - gpu.index});
}

/// A slice of a layout as read on the first GPU of its entry.
struct WrittenHolding {
  yaml::Value value;
  Holding holding;
};

struct GpuSpan {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The holdings, written for one GPU model, on another: each profile is found by its name and must be legal there.
std::vector<WrittenHolding> on_model(std::vector<WrittenHolding> holdings, const GpuModel& model) {
  for (auto& [value, holding] : holdings) {
    holding.slice.profile = read_profile_id(value, value.at("profile").name(), model);
    if (value.has_failed()) return holdings;
    if (const auto fault = mig::find_clash(model, {{holding.slice.start, holding.slice.profile}})) {
      value.at("start").fail(fmt::format("{}: {}", model.name, *fault));
      return holdings;
    }
  }
  return holdings;
}

/// Gives the GPUs of a span, all of one model, the holdings of `first`, whose profiles are that model's.
void repeat_on(const std::vector<WrittenHolding>& first, GpuSpan gpus, const GpuModel& model, Occupied& occupied,
               std::vector<Holding>& layout) {
  for (std::int64_t i = 0; i < gpus.count; ++i) {
    const GpuId gpu{static_cast<std::uint32_t>(gpus.first + i)};
    mig::State& state = occupied[gpu];
    for (const auto& [value, holding] : first) {
      layout.push_back(holding);
      layout.back().slice.gpu = gpu;
      occupy(value, layout.back().slice, model, state);
      if (value.has_failed()) return;
    }
  }
}

/// The same slices for more GPUs: names are resolved once for each entry of the fleet, not for each GPU.
void repeat_holdings(const std::vector<WrittenHolding>& first, GpuSpan gpus, const Scenario& scenario,
                     Occupied& occupied, std::vector<Holding>& layout) {
  std::int64_t entry_begin = 0;
  const std::int64_t end = gpus.first + gpus.count;
  for (const FleetEntry& entry : scenario.fleet) {
    const std::int64_t from = std::max(entry_begin, gpus.first);
    entry_begin += entry.count;
    const std::int64_t until = std::min(entry_begin, end);
    if (from >= until) continue;
    const auto here = on_model(first, entry.model);
    if (here.front().value.has_failed()) return;
    repeat_on(here, {from, until - from}, entry.model, occupied, layout);
    if (here.front().value.has_failed()) return;
  }
}

}  // namespace

std::vector<FleetEntry> read_fleet(const yaml::Value& value, bool is_empty_allowed) {
  std::vector<FleetEntry> fleet;
  std::int64_t count = 0;
  const std::vector<yaml::Value> items =
      is_empty_allowed ? value.items("a list of GPUs") : value.items("a list of at least one GPU", false);
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
  const int start = static_cast<int>(value.at("start").whole({0, kStartMax}));
  if (value.has_failed()) return {gpu, start, {}};
  const GpuModel& model = scenario.model_of(gpu);
  const Slice slice{gpu, start, read_profile_id(value, name, model)};
  if (value.has_failed()) return slice;
  if (const auto fault = mig::find_clash(model, {{slice.start, slice.profile}})) {
    value.at("start").fail(*fault, fmt::format("a start of {} on {}: {}", name, model.name, starts_shown(model, slice)),
                           fmt::format("{}", start));
    return slice;
  }
  occupy(value, slice, model, occupied[gpu]);
  return slice;
}

GpuId read_gpu_id(const yaml::Value& value, const Scenario& scenario) {
  if (scenario.fleet.empty()) {
    value.refuse("the number of a GPU of the fleet, which is empty");
    return {};
  }
  return GpuId{static_cast<std::uint32_t>(value.whole({0, scenario.gpu_count() - std::int64_t{1}}))};
}

std::vector<Holding> read_layout(const yaml::Value& value, const Scenario& scenario) {
  std::map<std::string, ServiceId> ids;
  for (std::uint32_t i = 0; i < scenario.services.size(); ++i) ids.emplace(scenario.services[i].name, ServiceId{i});
  std::vector<Holding> layout;
  Occupied occupied;
  for (const yaml::Value& entry : value.items("a list of GPUs with their slices")) {
    entry.check_keys({"gpu", "count", "slices"});
    const GpuId gpu = read_gpu_id(entry.at("gpu"), scenario);
    const std::int64_t count = read_gpu_count(entry.at("count"), gpu, scenario);
    std::vector<WrittenHolding> first;
    for (const yaml::Value& slice : entry.at("slices").items("a list of slices")) {
      if (value.has_failed()) return layout;
      first.push_back({slice, read_holding(slice, gpu, scenario, ids, occupied)});
      layout.push_back(first.back().holding);
    }
    if (value.has_failed()) return layout;
    if (!first.empty()) repeat_holdings(first, {gpu.index + 1, count - 1}, scenario, occupied, layout);
  }
  std::sort(layout.begin(), layout.end(), [](const Holding& a, const Holding& b) { return a.slice < b.slice; });
  return layout;
}

}  // namespace berth::scenario::detail
