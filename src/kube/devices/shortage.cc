#include "kube/devices/shortage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace berth::kube {
namespace {

constexpr std::string_view kUnitCounter = "/memory-slice";
constexpr std::int64_t kMilli = 1'000;

/// "SET/" of "SET/COUNTER".
std::string_view set_of(std::string_view counter) { return counter.substr(0, counter.find('/') + 1); }

bool counts_units(std::string_view counter) { return counter.find(kUnitCounter) != std::string_view::npos; }

std::string unit_of(std::string_view what) {
  if (what == "node CPU") return " m";
  return what == "node memory" ? " MiB" : "";
}

/// "16Gi", or the number.
std::string amount_text(std::int64_t amount) {
  constexpr std::int64_t kGi = std::int64_t{1} << 30U;
  constexpr std::int64_t kMi = std::int64_t{1} << 20U;
  if (amount >= kGi && amount % kGi == 0) return fmt::format("{}Gi", amount / kGi);
  if (amount >= kMi && amount % kMi == 0) return fmt::format("{}Mi", amount / kMi);
  return fmt::format("{}", amount);
}

/// Milli of units in the sets of these counters that are left.
std::int64_t left_units(const PoolState& pool, std::string_view set, bool has_units) {
  std::int64_t left = 0;
  for (std::size_t i = 0; i < pool.pool.counter_names.size(); ++i) {
    const std::string& name = pool.pool.counter_names[i];
    if (set_of(name) == set && (!has_units || counts_units(name))) left += std::max<std::int64_t>(pool.left[i], 0);
  }
  return left;
}

}  // namespace

void Shortages::add(const Shortage& shortage) {
  Sum& sum = sums_[shortage.what];
  const bool is_first = sum.node_count++ == 0;
  if (!shortage.has_amounts) return;
  sum.has_amounts = true;
  sum.wanted = is_first ? shortage.wanted : std::min(sum.wanted, shortage.wanted);
  sum.free = is_first ? shortage.free : std::max(sum.free, shortage.free);
}

std::string Shortages::text() const {
  std::vector<std::string> parts;
  for (const auto& [what, sum] : sums_) {
    std::string part = fmt::format("{}: {} {}", what, sum.node_count, sum.node_count == 1 ? "node" : "nodes");
    const std::string unit = unit_of(what);
    if (sum.has_amounts) {
      part += fmt::format(" ({}{} wanted{}, at most {}{} free)", amount_text(sum.wanted), unit,
                          what == "units" ? " on one GPU" : "", amount_text(sum.free), unit);
    }
    parts.push_back(std::move(part));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<Shortage> node_shortage(const PodFacts& pod, const NodeFacts& node, const NodeRoom& used) {
  const auto what = unfit(pod, node, used);
  if (!what) return std::nullopt;
  constexpr std::int64_t kMilliPerMib = std::int64_t{1} << 20U;
  if (*what == "node CPU") return Shortage{*what, true, pod.wants.cpu, node.room.cpu - used.cpu};
  if (*what == "node memory") {
    return Shortage{*what, true, pod.wants.memory / kMilli / kMilliPerMib,
                    (node.room.memory - used.memory) / kMilli / kMilliPerMib};
  }
  return Shortage{.what = *what};
}

namespace {

/// Of devices without units: the counter that is short for most of them. The least that one of them wants of it, and
/// the most that a set has left.
Shortage counter_shortage(const PoolState& pool, const std::vector<std::size_t>& devices) {
  struct Short {
    std::int64_t device_count = 0;
    Shortage shortage;
  };
  std::map<std::string, Short> counters;
  for (const std::size_t index : devices) {
    const auto& uses = pool.pool.devices[index].uses;
    const auto use =
        std::ranges::find_if(uses, [&](const CounterUse& each) { return pool.left[each.counter] < each.amount; });
    if (use == uses.end()) continue;
    const std::string& name = pool.pool.counter_names[use->counter];
    auto& [device_count, shortage] = counters[name.substr(set_of(name).size())];
    const std::int64_t free = std::max<std::int64_t>(pool.left[use->counter], 0) / kMilli;
    const std::int64_t wanted = (use->amount + kMilli - 1) / kMilli;
    shortage.wanted = device_count == 0 ? wanted : std::min(shortage.wanted, wanted);
    shortage.free = std::max(shortage.free, free);
    ++device_count;
  }
  if (counters.empty()) return {.what = "devices that are not taken"};
  const auto most = std::ranges::max_element(counters, {}, [](const auto& each) { return each.second.device_count; });
  return {.what = "counter " + most->first,
          .has_amounts = true,
          .wanted = most->second.shortage.wanted,
          .free = most->second.shortage.free};
}

}  // namespace

Shortage unit_shortage(const PoolState& pool, const std::vector<std::size_t>& devices) {
  const bool has_any_units = std::ranges::any_of(devices, [&](std::size_t index) {
    return std::ranges::any_of(pool.pool.devices[index].uses, [&](const CounterUse& use) {
      return counts_units(pool.pool.counter_names[use.counter]);
    });
  });
  if (!has_any_units) return counter_shortage(pool, devices);
  Shortage shortage{.what = "units", .has_amounts = true};
  bool is_first = true;
  std::set<std::string_view> seen;
  for (const std::size_t index : devices) {
    const Device& device = pool.pool.devices[index];
    if (device.uses.empty()) continue;
    const auto name_of = [&](const CounterUse& use) -> const std::string& {
      return pool.pool.counter_names[use.counter];
    };
    const bool has_units =
        std::ranges::any_of(device.uses, [&](const CounterUse& use) { return counts_units(name_of(use)); });
    std::int64_t wanted = 0;
    for (const CounterUse& use : device.uses) {
      if (!has_units || counts_units(name_of(use))) wanted += use.amount;
    }
    shortage.wanted = is_first ? wanted : std::min(shortage.wanted, wanted);
    is_first = false;
    const std::string_view set = set_of(name_of(device.uses.front()));
    if (seen.insert(set).second) shortage.free = std::max(shortage.free, left_units(pool, set, has_units));
  }
  if (is_first) return {.what = "devices that are not taken"};
  shortage.wanted = (shortage.wanted + kMilli - 1) / kMilli;
  shortage.free /= kMilli;
  return shortage;
}

}  // namespace berth::kube
