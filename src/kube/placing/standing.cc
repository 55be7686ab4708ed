// What follows from all pods and claims, kept up to date change by change.
#include <utility>

#include "kube/placing/placing.h"

namespace berth::kube {

/// A pod came, changed or went.
void Placing::follow_pod(const ObjectName& name) {
  const auto found = pods_.find(name);
  const PodFacts* const pod = found == pods_.end() ? nullptr : &found->second;
  std::vector<ObjectName> claims;
  if (pod != nullptr && !pod->is_finished) {
    for (const PodClaim& each : pod->claims) {
      if (each.claim) claims.push_back({name.namespace_name, *each.claim});
    }
  }
  refer(name, std::move(claims));
  PodShare& share = shares_[name];
  if (share.place_in_order) open_.erase(*share.place_in_order);
  share.place_in_order.reset();
  const bool is_open =
      pod != nullptr && pod->node.empty() && !pod->is_finished && !pod->is_being_deleted && !pod->claims.empty();
  if (is_open) {
    share.place_in_order = {pod->created, pod_states_.at(name).arrival, name};
    open_.insert(*share.place_in_order);
  }
  count_room(name);
  if (pod == nullptr) shares_.erase(name);
}

void Placing::refer(const ObjectName& pod, std::vector<ObjectName> claims) {
  std::vector<ObjectName> before = std::exchange(shares_[pod].claims, claims);
  if (before == claims) return;
  for (const ObjectName& claim : before) {
    const auto found = referring_.find(claim);
    if (found == referring_.end()) continue;  // named twice
    found->second.erase(pod);
    if (found->second.empty()) referring_.erase(found);
  }
  for (const ObjectName& claim : claims) referring_[claim].insert(pod);
  for (const auto& list : {before, claims}) {
    for (const ObjectName& claim : list) follow_claim(claim);
  }
}

/// A claim came, changed or went, or other pods refer to it.
void Placing::follow_claim(const ObjectName& name) {
  const auto put = [&](std::set<ObjectName>& names, bool is_in) {
    if (is_in) {
      names.insert(name);
    } else {
      names.erase(name);
    }
  };
  const auto found = claims_.find(name);
  const Claim* const claim = found == claims_.end() ? nullptr : &found->second;
  const auto pods = referring_.find(name);
  const bool is_intended = claim != nullptr && claim->intent;
  const bool is_needed = claim != nullptr && (claim->is_of_service || pods != referring_.end());
  const bool is_unused = is_intended && !claim->is_reserved && (!is_needed || claim->is_being_deleted);
  put(intents_, is_intended && !claim->is_allocated);
  put(unused_, is_unused);
  if (claim != nullptr && !is_unused) claim_states_.at(name).unreferenced_since.reset();
  if (pods == referring_.end()) return;
  for (const ObjectName& pod : pods->second) count_room(pod);
}

/// Which pools are owned, and where devices are, changes with the inventory: rarely.
void Placing::follow_pools() {
  if (followed_structure_ == inventory_.structure_count()) return;
  followed_structure_ = inventory_.structure_count();
  chooser_.forget_owned();
  owned_.clear();
  for (const auto& [name, pool] : inventory_.pools()) {
    if (is_owned(options_.own, name)) owned_.insert(name);
  }
  for (const auto& [name, pod] : pods_) count_room(name);
}

/// A pod takes room on its node, or on that of the devices that its claims hold.
void Placing::count_room(const ObjectName& name) {
  PodShare now;
  const auto pod = pods_.find(name);
  if (pod != pods_.end() && !pod->second.is_finished) {
    now.room = pod->second.wants;
    now.node = pod->second.node;
    for (std::size_t i = 0; now.node.empty() && i < pod->second.claims.size(); ++i) {
      if (!pod->second.claims[i].claim) continue;
      const auto claim = claims_.find({name.namespace_name, *pod->second.claims[i].claim});
      if (claim != claims_.end()) now.node = node_of(claim->second);
    }
  }
  PodShare& share = shares_[name];
  if (now.node == share.node && now.room == share.room) return;
  const auto change = [&](const PodShare& by, std::int64_t sign) {
    if (by.node.empty()) return;
    NodeRoom& room = used_[by.node];
    room.cpu += sign * by.room.cpu;
    room.memory += sign * by.room.memory;
    room.pods += sign * by.room.pods;
    if (room == NodeRoom{}) used_.erase(by.node);
  };
  change(share, -1);
  change(now, +1);
  share.node = std::move(now.node);
  share.room = now.room;
}

}  // namespace berth::kube
