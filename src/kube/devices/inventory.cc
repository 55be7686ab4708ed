#include "kube/devices/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/core/int128.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "kube/devices/quantity.h"

namespace berth::kube {
namespace {

constexpr std::int64_t kLossUnit = 1'000'000'000;  ///< of one device that is ruled out; sizes add less
constexpr std::int64_t kShareUnit = 1'000;         ///< of a whole counter
constexpr std::int64_t kDevicesMost = 1'000;       ///< of a pool, for the sum of sizes

const yaml::Map& map_at(const yaml::Node& node, std::string_view key) {
  static const yaml::Map kNone;
  const yaml::Node* at = json::find_member(node, key);
  const auto* map = at == nullptr ? nullptr : std::get_if<yaml::Map>(&at->value);
  return map == nullptr ? kNone : *map;
}

std::string qualified(const std::string& name, const std::string& driver) {
  return name.find('/') == std::string::npos ? driver + "/" + name : name;
}

std::optional<AttributeValue> attribute_in(const yaml::Node& node) {
  if (const yaml::Node* whole = json::find_member(node, "int")) {
    if (const auto number = json::integer_in<std::int64_t>(*whole)) return AttributeValue(*number);
  }
  if (const yaml::Node* truth = json::find_member(node, "bool")) {
    if (const auto is_true = json::truth_in(*truth)) return AttributeValue(*is_true);
  }
  if (const yaml::Node* text = json::find_member(node, "string")) {
    if (const auto* value = json::text_in(*text)) return AttributeValue(*value);
  }
  if (const yaml::Node* version = json::find_member(node, "version")) {
    if (const auto* value = json::text_in(*version)) return AttributeValue(VersionText{*value});
  }
  return std::nullopt;
}

/// The text of a value that is a text or a number: quantities may be either.
std::string_view quantity_text(const yaml::Node& map, std::string_view key) {
  const yaml::Node* node = json::find_member(map, key);
  if (node == nullptr) return {};
  if (const auto* text = json::text_in(*node)) return *text;
  const auto* number = json::number_in(*node);
  return number == nullptr ? std::string_view() : std::string_view(*number);
}

/// What about a device is not understood makes it one that is not offered.
bool is_understood(const yaml::Node& node) {
  constexpr std::array<std::string_view, 5> kUnknown = {"nodeSelector", "allNodes", "bindingConditions", "bindsToNode",
                                                        "allowMultipleAllocations"};
  return std::ranges::none_of(kUnknown, [&](std::string_view key) {
    const yaml::Node* value = json::find_member(node, key);
    return value != nullptr && !value->is_null() && json::truth_in(*value) != false;
  });
}

/// Counters of the pool by name; the first of a name counts.
std::map<std::string_view, std::size_t> places_of(const std::vector<std::string>& counter_names) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < counter_names.size(); ++i) places.emplace(counter_names[i], i);
  return places;
}

}  // namespace

bool PoolState::is_free(std::size_t device) const {
  if (is_taken[device]) return false;
  return std::ranges::all_of(pool.devices[device].uses,
                             [&](const CounterUse& use) { return use.amount <= left[use.counter]; });
}

std::optional<std::size_t> PoolState::find(std::string_view device) const {
  const auto found = std::ranges::find(pool.devices, device, &Device::name);
  if (found == pool.devices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - pool.devices.begin());
}

void PoolState::take(std::size_t device) {
  ++change_count;
  is_taken[device] = true;
  for (const CounterUse& use : pool.devices[device].uses) left[use.counter] -= use.amount;
}

void PoolState::release(std::size_t device) {
  ++change_count;
  is_taken[device] = false;
  for (const CounterUse& use : pool.devices[device].uses) left[use.counter] += use.amount;
}

void PoolState::weigh() {
  const auto size_of = [&](std::size_t device) {
    std::int64_t size = 0;
    for (const CounterUse& use : pool.devices[device].uses) {
      const std::int64_t whole = std::max<std::int64_t>(pool.counters[use.counter], 1);
      size += static_cast<std::int64_t>(Int128{use.amount} * kShareUnit / whole);
    }
    return std::clamp<std::int64_t>(size, 0, kLossUnit / kDevicesMost);
  };
  loss.assign(pool.devices.size(), 0);
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < pool.devices.size(); ++i) {
    if (is_free(i)) free.push_back(i);
  }
  for (const std::size_t device : free) {
    take(device);
    for (const std::size_t other : free) {
      if (!is_free(other)) loss[device] += kLossUnit + size_of(other);
    }
    release(device);
  }
}

void Inventory::read_counters(const yaml::Node& spec, Slice& slice) {
  for (const yaml::Node& set : json::list_at(spec, {"sharedCounters"})) {
    const std::string_view set_name = json::text_at(set, {"name"});
    for (const yaml::Entry& counter : map_at(set, "counters")) {
      const auto amount = parse_quantity_milli(quantity_text(counter.value, "value"));
      slice.counters.emplace_back(fmt::format("{}/{}", set_name, counter.key), amount.value_or(0));
    }
  }
}

Inventory::SliceDevice Inventory::read_device(const yaml::Node& node, const yaml::Node& spec,
                                              const std::string& driver) {
  SliceDevice read{.device = {.name = std::string(json::text_at(node, {"name"}))}, .uses = {}};
  Device& device = read.device;
  for (const yaml::Entry& entry : map_at(node, "attributes")) {
    if (auto value = attribute_in(entry.value)) device.attributes[qualified(entry.key, driver)] = *std::move(value);
  }
  for (const yaml::Entry& entry : map_at(node, "capacity")) {
    if (const auto value = parse_quantity_milli(quantity_text(entry.value, "value")))
      device.capacity[qualified(entry.key, driver)] = *value;
  }
  for (const yaml::Node& taint : json::list_at(node, {"taints"})) {
    device.taints.push_back({std::string(json::text_at(taint, {"key"})), std::string(json::text_at(taint, {"value"})),
                             std::string(json::text_at(taint, {"effect"}))});
  }
  device.node = json::text_at(spec, {"nodeName"});
  if (device.node.empty()) device.node = json::text_at(node, {"nodeName"});
  device.is_offered = !device.node.empty() && is_understood(node);
  for (const yaml::Node& use : json::list_at(node, {"consumesCounters"})) {
    const std::string_view set_name = json::text_at(use, {"counterSet"});
    for (const yaml::Entry& counter : map_at(use, "counters")) {
      const auto amount = parse_quantity_milli(quantity_text(counter.value, "value"));
      if (amount) read.uses.push_back({fmt::format("{}/{}", set_name, counter.key), *amount});
      device.is_offered = device.is_offered && amount;
    }
  }
  read.uses.shrink_to_fit();
  return read;
}

Result<Inventory::Slice> Inventory::read_slice(const yaml::Node& slice) {
  const yaml::Node* spec = json::find_member(slice, "spec");
  const auto whole = [&](std::string_view key) {
    const yaml::Node* value = spec == nullptr ? nullptr : json::find_at(*spec, {"pool", key});
    return value == nullptr ? std::nullopt : json::integer_in<std::int64_t>(*value);
  };
  const auto count = whole("resourceSliceCount");
  if (spec == nullptr || !count) return fail(ErrorCode::kMalformed, "wanted a ResourceSlice with a pool, found none");
  Slice read{
      .pool = {std::string(json::text_at(*spec, {"driver"})), std::string(json::text_at(*spec, {"pool", "name"}))},
      .generation = whole("generation").value_or(0),
      .slice_count = *count,
      .counters = {},
      .devices = {}};
  read_counters(*spec, read);
  for (const yaml::Node& node : json::list_at(*spec, {"devices"}))
    read.devices.push_back(read_device(node, *spec, read.pool.driver));
  read.devices.shrink_to_fit();
  return read;
}

Result<void> Inventory::put_slice(const std::string& name, const yaml::Node* slice) {
  const auto found = slices_.find(name);
  if (found != slices_.end()) {
    const PoolName pool = found->second.pool;
    slices_of_[pool].erase(name);
    slices_.erase(found);
    rebuild(pool);
  }
  if (slice == nullptr) return {};
  auto read = read_slice(*slice);
  if (!read) return pass_on(read.error());
  const PoolName pool = read->pool;
  slices_of_[pool].insert(name);
  slices_.emplace(name, *std::move(read));
  rebuild(pool);
  return {};
}

void Inventory::rebuild(const PoolName& name) {
  ++structure_count_;
  pools_.erase(name);
  std::int64_t newest = -1;
  for (const std::string& slice : slices_of_[name]) newest = std::max(newest, slices_.at(slice).generation);
  std::vector<const Slice*> parts;
  for (const std::string& slice : slices_of_[name]) {
    const Slice& part = slices_.at(slice);
    if (part.generation == newest) parts.push_back(&part);
  }
  if (parts.empty() || static_cast<std::int64_t>(parts.size()) != parts.front()->slice_count) return;
  PoolState state;
  state.stamp = ++stamp_;
  state.pool.name = name;
  state.pool.generation = newest;
  std::size_t device_count = 0;
  for (const Slice* part : parts) {
    device_count += part->devices.size();
    for (const auto& [counter, amount] : part->counters) {
      state.pool.counter_names.push_back(counter);
      state.pool.counters.push_back(amount);
    }
  }
  const auto places = places_of(state.pool.counter_names);
  state.pool.devices.reserve(device_count);
  for (const Slice* part : parts) {
    for (const SliceDevice& each : part->devices) {
      Device& device = state.pool.devices.emplace_back(each.device);
      device.uses.reserve(each.uses.size());
      for (const NamedUse& use : each.uses) {
        const auto found = places.find(use.counter);
        device.is_offered = device.is_offered && found != places.end();
        if (found != places.end()) device.uses.push_back({found->second, use.amount});
      }
    }
  }
  state.is_taken.assign(state.pool.devices.size(), false);
  state.left = state.pool.counters;
  for (auto each = held_.lower_bound({name, ""}); each != held_.end() && each->pool == name; ++each) {
    if (const auto device = state.find(each->device)) state.take(*device);
  }
  state.weigh();
  pools_.emplace(name, std::move(state));
}

void Inventory::hold(const DeviceName& device) {
  if (!held_.insert(device).second) return;
  const auto pool = pools_.find(device.pool);
  if (pool == pools_.end()) return;
  if (const auto index = pool->second.find(device.device)) {
    pool->second.take(*index);
    pool->second.weigh();
  }
}

void Inventory::free(const DeviceName& device) {
  if (held_.erase(device) == 0) return;
  const auto pool = pools_.find(device.pool);
  if (pool == pools_.end()) return;
  if (const auto index = pool->second.find(device.device)) {
    pool->second.release(*index);
    pool->second.weigh();
  }
}

}  // namespace berth::kube
