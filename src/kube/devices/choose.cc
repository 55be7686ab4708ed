#include "kube/devices/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kube/devices/shortage.h"

namespace berth::kube {
namespace {

constexpr int kStepsMax = 20'000;          // of the search on one node
constexpr std::size_t kCachedMax = 1'000;  // different options whose devices are remembered

std::string cache_key(const RequestOption& option) {
  std::string key = option.class_name;
  for (const Selector& selector : option.selectors) key += "\n" + selector.text;
  return key;
}

bool is_tainted(const DeviceTaint& taint, const RequestOption& option) {
  if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") return false;
  return std::ranges::none_of(option.tolerations, [&](const Toleration& toleration) {
    return tolerates(toleration, taint.key, taint.value, taint.effect);
  });
}

bool is_kept_away(const Device& device, const PoolName& pool, const RequestOption& option, const Surroundings& around) {
  if (std::ranges::any_of(device.taints, [&](const DeviceTaint& taint) { return is_tainted(taint, option); }))
    return true;
  return std::ranges::any_of(around.rules, [&](const auto& entry) {
    const DeviceTaintRuleFacts& rule = entry.second;
    const bool is_meant = (rule.driver.empty() || rule.driver == pool.driver) &&
                          (rule.pool.empty() || rule.pool == pool.pool) &&
                          (rule.device.empty() || rule.device == device.name);
    return is_meant && is_tainted(rule.taint, option);
  });
}

}  // namespace

/// The search for the devices of a pod on one node.
class NodeSearch {
 public:
  NodeSearch(Chooser& chooser, const Surroundings& around, std::span<const Claim* const> claims, std::string node)
      : chooser_(chooser), around_(around), claims_(claims), node_(std::move(node)) {}

  void add(const PoolState& pool) { pools_.push_back(pool); }

  /// Finds devices for all claims; what it costs is in `cost`.
  bool run() {
    devices_.resize(claims_.size());
    return place(0, 0);
  }
  /// Why `run` found nothing.
  [[nodiscard]] Shortage shortage() {
    for (const Claim* const claim : claims_) {
      for (const DeviceRequest& request : claim->requests) {
        if (auto found = shortage_of(request)) return *std::move(found);
      }
    }
    return {.what = "units for all of its requests together"};
  }
  [[nodiscard]] std::int64_t cost() const { return cost_; }
  [[nodiscard]] std::vector<std::vector<AllocatedDevice>> taken() && { return std::move(devices_); }

 private:
  struct Candidate {
    std::int64_t loss = 0;
    std::size_t pool = 0;
    std::size_t device = 0;
    friend auto operator<=>(const Candidate&, const Candidate&) = default;
  };

  bool place(std::size_t claim, std::size_t request) {
    if (claim == claims_.size()) return true;
    if (request == claims_[claim]->requests.size()) return place(claim + 1, 0);
    for (const RequestOption& option : claims_[claim]->requests[request].options) {
      if (place_more(claim, request, option, option.count)) return true;
    }
    return false;
  }

  bool place_more(std::size_t claim, std::size_t request, const RequestOption& option, std::int64_t count) {
    if (count == 0) return place(claim, request + 1);
    if (++steps_ > kStepsMax) return false;
    for (const Candidate& candidate : candidates(option)) {
      PoolState& pool = pools_[candidate.pool];
      const Device& device = pool.pool.devices[candidate.device];
      if (!keeps_constraints(*claims_[claim], devices_[claim], option.name, device)) continue;
      pool.take(candidate.device);
      pool.weigh();
      cost_ += candidate.loss;
      devices_[claim].push_back({option.name, {pool.pool.name, device.name}});
      if (place_more(claim, request, option, count - 1)) return true;
      devices_[claim].pop_back();
      cost_ -= candidate.loss;
      pool.release(candidate.device);
      pool.weigh();
    }
    return false;
  }

  std::vector<Candidate> candidates(const RequestOption& option) {
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < pools_.size(); ++i) {
      for (const std::size_t device : chooser_.matched(option, pools_[i], around_)) {
        const Device& facts = pools_[i].pool.devices[device];
        if (facts.node != node_ || !pools_[i].is_free(device) ||
            is_kept_away(facts, pools_[i].pool.name, option, around_))
          continue;
        found.push_back({pools_[i].loss[device], i, device});
      }
    }
    std::ranges::sort(found);
    return found;
  }

  /// Of a request alone; nothing if some device is free for it.
  [[nodiscard]] std::optional<Shortage> shortage_of(const DeviceRequest& request) {
    std::optional<Shortage> units;
    bool is_any_selected = false;
    for (const RequestOption& option : request.options) {
      if (!candidates(option).empty()) return std::nullopt;
      for (const PoolState& pool : pools_) {
        std::vector<std::size_t> usable;
        for (const std::size_t device : chooser_.matched(option, pool, around_)) {
          const Device& facts = pool.pool.devices[device];
          if (facts.node != node_) continue;
          is_any_selected = true;
          if (!is_kept_away(facts, pool.pool.name, option, around_)) usable.push_back(device);
        }
        if (usable.empty()) continue;
        Shortage found = unit_shortage(pool, usable);
        if (!units || found.free > units->free) units = std::move(found);
      }
    }
    if (units) return units;
    return Shortage{.what = is_any_selected ? "device taint" : "device selector"};
  }

  [[nodiscard]] const Device* device_of(const AllocatedDevice& taken) const {
    for (const PoolState& pool : pools_) {
      if (pool.pool.name != taken.device.pool) continue;
      if (const auto index = pool.find(taken.device.device)) return &pool.pool.devices[*index];
    }
    return nullptr;
  }

  [[nodiscard]] bool keeps_constraints(const Claim& claim, const std::vector<AllocatedDevice>& taken,
                                       const std::string& option, const Device& device) const {
    for (const MatchConstraint& constraint : claim.constraints) {
      const auto is_bound = [&](const std::string& name) {
        return constraint.requests.empty() || std::ranges::any_of(constraint.requests, [&](const std::string& request) {
                 return name == request || name.starts_with(request + "/");
               });
      };
      if (!is_bound(option)) continue;
      const auto value = device.attributes.find(constraint.attribute);
      if (value == device.attributes.end()) return false;
      for (const AllocatedDevice& each : taken) {
        if (!is_bound(each.request)) continue;
        const Device* other = device_of(each);
        if (other == nullptr || other->attributes.at(constraint.attribute) != value->second) return false;
      }
    }
    return true;
  }

  Chooser& chooser_;
  const Surroundings& around_;
  std::span<const Claim* const> claims_;
  std::string node_;
  std::vector<PoolState> pools_;
  std::vector<std::vector<AllocatedDevice>> devices_;
  std::int64_t cost_ = 0;
  int steps_ = 0;
};

const std::vector<std::size_t>& Chooser::matched(const RequestOption& option, const PoolState& pool,
                                                 const Surroundings& around) {
  if (matched_.size() > kCachedMax) matched_.clear();
  Matched& entry = matched_[cache_key(option)][pool.pool.name];
  if (entry.stamp == pool.stamp) return entry.devices;
  entry = {.stamp = pool.stamp, .devices = {}};
  const auto found = around.classes.find(option.class_name);
  if (found == around.classes.end() || !found->second.not_understood.empty()) {
    entry.stamp = 0;  // the class may come, or be corrected
    return entry.devices;
  }
  for (std::size_t i = 0; i < pool.pool.devices.size(); ++i) {
    const Device& device = pool.pool.devices[i];
    const auto selects = [&](const Selector& selector) { return matches(selector, device, pool.pool.name.driver); };
    if (device.is_offered && std::ranges::all_of(found->second.selectors, selects) &&
        std::ranges::all_of(option.selectors, selects)) {
      entry.devices.push_back(i);
    }
  }
  return entry.devices;
}

bool Chooser::selects_owned(const RequestOption& option, const Surroundings& around) {
  std::string key = cache_key(option);
  if (const auto found = owned_answers_.find(key); found != owned_answers_.end()) return found->second;
  if (owned_answers_.size() > kCachedMax) owned_answers_.clear();
  const bool is_any = std::ranges::any_of(around.inventory.pools(), [&](const auto& entry) {
    return around.owned.contains(entry.first) && !matched(option, entry.second, around).empty();
  });
  return owned_answers_[std::move(key)] = is_any;
}

bool Chooser::is_of_owned(const Claim& claim, const Surroundings& around) {
  return std::ranges::any_of(claim.requests, [&](const DeviceRequest& request) {
    return std::ranges::any_of(request.options,
                               [&](const RequestOption& option) { return selects_owned(option, around); });
  });
}

Choice Chooser::choose(const PodFacts& pod, std::span<const Claim* const> claims, const Surroundings& around,
                       const std::string& node, const std::set<std::string>& avoided) {
  std::map<std::string, std::vector<const PoolState*>> pools_of;
  for (const auto& [name, state] : around.inventory.pools()) {
    if (!around.owned.contains(name)) continue;
    std::set<std::string> nodes;
    for (const Device& device : state.pool.devices) {
      if (device.is_offered) nodes.insert(device.node);
    }
    for (const std::string& each : nodes) pools_of[each].push_back(&state);
  }
  std::optional<Chosen> best;
  std::int64_t best_cost = 0;
  Shortages shortages;
  for (const auto& [name, pools] : pools_of) {
    if (!node.empty() && name != node) continue;
    const auto facts = around.nodes.find(name);
    const auto used = around.used.find(name);
    std::optional<Shortage> why;
    if (avoided.contains(name)) {
      why = Shortage{.what = "taken back by the scheduler lately"};
    } else if (facts == around.nodes.end()) {
      why = Shortage{.what = "no such node"};
    } else {
      why = node_shortage(pod, facts->second, used == around.used.end() ? NodeRoom{} : used->second);
    }
    if (why) {
      shortages.add(*why);
      continue;
    }
    NodeSearch search(*this, around, claims, name);
    for (const PoolState* pool : pools) search.add(*pool);
    if (!search.run()) {
      shortages.add(search.shortage());
    } else if (!best || search.cost() < best_cost) {
      best_cost = search.cost();
      best = Chosen{name, std::move(search).taken()};
    }
  }
  if (best) return *std::move(best);
  if (shortages.is_empty()) return NoChoice{"no node has devices of owned pools"};
  return NoChoice{fmt::format("none of the nodes with owned devices will do ({})", shortages.text())};
}

}  // namespace berth::kube
