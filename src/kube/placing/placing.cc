#include "kube/placing/placing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "kube/known_gpus/known_gpus.h"
#include "kube/placing/alike.h"

namespace berth::kube {
namespace {

/// Versions of one resource are ordered as numbers (since Kubernetes 1.35); those that are none are taken as they come.
bool is_older(const std::string& version, const std::string& than) {
  const auto number = [](const std::string& text) {
    std::uint64_t value = 0;
    const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc() && rest == text.data() + text.size() ? value : 0;
  };
  const std::uint64_t a = number(version);
  const std::uint64_t b = number(than);
  return a != 0 && b != 0 && a < b;
}

template <class Table>
bool is_stale(const Table& table, const Change& change) {
  const auto found = table.find(change.identity.name);
  return found != table.end() && found->second.identity.uid == change.identity.uid &&
         is_older(change.identity.version, found->second.identity.version);
}

/// Whether devices are to be chosen anew: the intent was withdrawn, but its pod still waits.
bool is_emptied(const std::string& text) {
  const auto intent = parse_intent(text);
  return intent && intent->devices.empty();
}

bool is_gone(const Change& change) { return change.kind == ChangeKind::kDeleted; }

}  // namespace

const std::vector<Resource>& followed_resources() {
  static const std::vector<Resource> kFollowed = {kResourceSlices, kDeviceClasses,  kDeviceTaintRules,
                                                  kNodes,          kResourceClaims, kPods};
  return kFollowed;
}

Placing::Placing(PlacingOptions options)
    : options_(std::move(options)), event_pace_(kEventsPerSecond, 1), known_gpus_(std::make_unique<KnownGpus>()) {}

Placing::Placing(Placing&&) noexcept = default;
Placing& Placing::operator=(Placing&&) noexcept = default;
Placing::~Placing() = default;

bool Placing::is_synced() const {
  return std::ranges::all_of(followed_resources(),
                             [&](const Resource& resource) { return listed_.contains(std::string(resource.plural)); });
}

void Placing::lead(std::int64_t epoch) {
  options_.epoch = epoch;
  listed_.clear();
}

void Placing::own(std::vector<OwnedPools> own) {
  options_.own = std::move(own);
  followed_structure_.reset();
  ++change_count_;
  known_gpus_->forget();
}

void Placing::take(std::string_view plural, const Change& change) {
  if (plural == kNodes.plural) return take_node(change);
  ++change_count_;
  if (plural == kResourceSlices.plural) return take_slice(change);
  if (plural == kDeviceClasses.plural) return take_class(change);
  if (plural == kDeviceTaintRules.plural) return take_rule(change);
  if (plural == kPods.plural) return take_pod(change);
  if (plural == kResourceClaims.plural) return take_claim(change);
}

void Placing::take_slice(const Change& change) {
  const std::string& name = change.identity.name.name;
  // A slice that cannot be read counts as missing: its pool is incomplete.
  static_cast<void>(inventory_.put_slice(name, is_gone(change) ? nullptr : &change.object));
}

void Placing::take_class(const Change& change) {
  chooser_.forget_classes();
  known_gpus_->forget();
  classes_.erase(change.identity.name.name);
  if (is_gone(change)) return;
  if (auto read = read_class(change.object)) classes_.emplace(change.identity.name.name, *std::move(read));
}

void Placing::take_rule(const Change& change) {
  rules_.erase(change.identity.name.name);
  known_gpus_->forget();
  if (is_gone(change)) return;
  const auto text = [&](std::initializer_list<std::string_view> keys) {
    return std::string(json::text_at(change.object, keys));
  };
  if (json::find_at(change.object, {"spec", "deviceSelector"}) == nullptr) return;  // selects nothing
  DeviceTaintRuleFacts rule{
      .driver = text({"spec", "deviceSelector", "driver"}),
      .pool = text({"spec", "deviceSelector", "pool"}),
      .device = text({"spec", "deviceSelector", "device"}),
      .taint = {text({"spec", "taint", "key"}), text({"spec", "taint", "value"}), text({"spec", "taint", "effect"})}};
  if (rule.taint.key != kOwnedTaint) rules_.emplace(change.identity.name.name, std::move(rule));
}

void Placing::take_node(const Change& change) {
  auto read = is_gone(change) ? Result<NodeFacts>(fail(ErrorCode::kNotFound, "gone")) : read_node(change.object);
  const auto found = nodes_.find(change.identity.name.name);
  // Most changes of a node are heartbeats.
  if (read && found != nodes_.end() && found->second == *read) return;
  ++change_count_;
  known_gpus_->forget();
  if (found != nodes_.end()) nodes_.erase(found);
  if (read) nodes_.emplace(change.identity.name.name, *std::move(read));
}

void Placing::take_pod(const Change& change) {
  const ObjectName& name = change.identity.name;
  if (is_gone(change)) {
    pods_.erase(name);
    pod_states_.erase(name);
    return follow_pod(name);
  }
  if (is_stale(pods_, change)) return;
  auto read = read_pod(change.object);
  if (!read) return;
  const auto found = pods_.find(name);
  if (found == pods_.end() || found->second.identity.uid != read->identity.uid)
    pod_states_[name] = {.arrival = ++arrivals_};
  pods_.insert_or_assign(name, *std::move(read));
  follow_pod(name);
}

void Placing::take_claim(const Change& change) {
  if (is_gone(change)) return set_claim(change.identity.name, std::nullopt);
  if (is_stale(claims_, change)) return;
  auto read = read_claim(change.object);
  set_claim(change.identity.name, read ? std::optional(*std::move(read)) : std::nullopt);
}

void Placing::set_claim(const ObjectName& name, std::optional<Claim> claim) {
  if (claim) {
    remember_intent(*claim);
    claims_.insert_or_assign(name, *std::move(claim));
  } else {
    claims_.erase(name);
  }
  hold_devices(name);
  if (!claims_.contains(name)) claim_states_.erase(name);
  follow_claim(name);
}

/// An allocation that is gone while its intent stands was taken back by the scheduler, which found no node for the pod.
/// One that was reserved was released by the claim controller: the pods that used it are gone.
void Placing::remember_intent(const Claim& claim) {
  ClaimState& state = claim_states_[claim.identity.name];
  if (state.intent != claim.intent) {
    state.intent = claim.intent;
    state.is_taken_back = false;
  } else if (state.was_allocated && !claim.is_allocated) {
    state.is_taken_back = !state.was_reserved;
  }
  if (claim.is_allocated) state.is_taken_back = false;
  state.was_allocated = claim.is_allocated;
  state.was_reserved = claim.is_reserved;
}

void Placing::hold_devices(const ObjectName& name) {
  ClaimState& state = claim_states_[name];
  std::vector<DeviceName> wanted;
  if (const auto found = claims_.find(name); found != claims_.end()) {
    const Claim& claim = found->second;
    const auto intent = claim.is_allocated || !claim.intent ? std::nullopt : parse_intent(*claim.intent);
    for (const AllocatedDevice& each : claim.is_allocated ? claim.allocated
                                       : intent           ? intent->devices
                                                          : std::vector<AllocatedDevice>{}) {
      wanted.push_back(each.device);
    }
  }
  if (wanted == state.held) return;
  for (const DeviceName& device : wanted) {
    if (++holders_[device] == 1 && !reserved_.contains(device)) inventory_.hold(device);
  }
  for (const DeviceName& device : state.held) {
    const auto found = holders_.find(device);
    if (--found->second > 0) continue;
    holders_.erase(found);
    if (!reserved_.contains(device)) inventory_.free(device);
  }
  state.held = std::move(wanted);
}

void Placing::reserve(std::set<DeviceName> devices) {
  if (devices == reserved_) return;
  ++change_count_;
  for (const DeviceName& device : devices) {
    if (!reserved_.contains(device) && !holders_.contains(device)) inventory_.hold(device);
  }
  for (const DeviceName& device : reserved_) {
    if (!devices.contains(device) && !holders_.contains(device)) inventory_.free(device);
  }
  reserved_ = std::move(devices);
}

Surroundings Placing::surroundings() const { return {inventory_, owned_, classes_, nodes_, used_, rules_}; }

/// The node of the devices that a claim holds; empty: none.
std::string Placing::node_of(const Claim& claim) const {
  const auto state = claim_states_.find(claim.identity.name);
  if (state == claim_states_.end()) return {};
  for (const DeviceName& each : state->second.held) {
    const auto pool = inventory_.pools().find(each.pool);
    if (pool == inventory_.pools().end()) continue;
    if (const auto device = pool->second.find(each.device)) return pool->second.pool.devices[*device].node;
  }
  return {};
}

bool Placing::is_own_intent_sound(const Claim& claim) const {
  const auto intent = parse_intent(*claim.intent);
  if (!intent || intent->devices.empty()) return false;
  return std::ranges::all_of(intent->devices, [&](const AllocatedDevice& each) {
    const auto pool = inventory_.pools().find(each.device.pool);
    if (pool == inventory_.pools().end() || !owned_.contains(each.device.pool)) return false;
    const auto device = pool->second.find(each.device.device);
    if (!device || holders_.at(each.device) != 1) return false;
    // What others hold beside it leaves its counters.
    return std::ranges::all_of(pool->second.pool.devices[*device].uses,
                               [&](const CounterUse& use) { return pool->second.left[use.counter] >= 0; });
  });
}

Placing::PodClaims Placing::claims_of(const PodFacts& pod) {
  PodClaims all;
  for (const PodClaim& reference : pod.claims) {
    const auto found =
        reference.claim ? claims_.find({pod.identity.name.namespace_name, *reference.claim}) : claims_.end();
    if (found == claims_.end()) {
      all.waits_for = fmt::format("claim {} does not exist yet", reference.claim.value_or(reference.reference));
      return all;
    }
    const Claim& claim = found->second;
    const std::string name = claim.identity.name.text();
    if (claim.is_allocated) {
      all.allocated.push_back(&claim);
    } else if (claim.is_being_deleted) {
      all.waits_for = fmt::format("claim {} is being deleted", name);
    } else if (claim.tolerates_owned) {
      ++all.foreign_count;
    } else if (claim.is_of_service) {
      all.waits_for = fmt::format("claim {} does not have its device yet", name);
    } else if (!claim.not_understood.empty()) {
      all.waits_for = fmt::format("claim {}: {}", name, claim.not_understood);
    } else if (!chooser_.is_of_owned(claim, surroundings())) {
      ++all.foreign_count;
    } else if (claim.intent && !is_emptied(*claim.intent)) {
      all.intended.push_back(&claim);
    } else {
      all.to_place.push_back(&claim);
      all.is_reopened = all.is_reopened || claim.intent;
    }
    if (!all.waits_for) {
      for (const DeviceRequest& request : claim.requests) {
        for (const RequestOption& option : request.options) {
          const auto device_class = classes_.find(option.class_name);
          if (claim.is_allocated) continue;
          if (device_class == classes_.end()) {
            const bool is_begun = claim.intent && !is_emptied(*claim.intent);
            if (!is_begun) all.waits_for = fmt::format("claim {}: class {} does not exist", name, option.class_name);
          } else if (!device_class->second.not_understood.empty()) {
            all.waits_for = fmt::format("class {}: {}", option.class_name, device_class->second.not_understood);
          }
        }
      }
    }
  }
  return all;
}

std::vector<Action> Placing::decide(Instant now, const std::string& wall) {
  std::vector<Action> actions;
  if (!is_synced()) return actions;
  refused_.clear();  // from here on devices are only taken
  follow_pools();
  for (const auto& [created, arrival, name] : open_) {
    PodFacts& pod = pods_.at(name);
    place_pod(pod, now, wall, actions);
    report(pod, now, wall, actions);
    if (actions.size() >= kDecisionActionsMax) return actions;
  }
  allocate_for_services(wall, actions);
  release_unused(now, actions);
  withdraw_older(actions);
  return actions;
}

/// Intents of other leaders that nothing above has dealt with: their claims' pods are gone, or wait for something else.
void Placing::withdraw_older(std::vector<Action>& actions) const {
  std::set<ObjectName> written;
  for (const Action& action : actions) {
    if (action.write.resource.plural == kResourceClaims.plural) written.insert(action.write.name);
  }
  for (const ObjectName& name : intents_) {
    if (written.contains(name)) continue;
    const Claim& claim = claims_.at(name);
    const auto intent = parse_intent(*claim.intent);
    if (intent && !intent->devices.empty() && intent->epoch != options_.epoch)
      actions.push_back(withdraw_action(claim, false));
  }
}

void Placing::place_pod(PodFacts& pod, Instant now, const std::string& wall, std::vector<Action>& actions) {
  PodState& state = pod_states_.at(pod.identity.name);
  state.reason.clear();
  const bool is_gated = pod.waits_for_berth();
  const PodClaims claims = claims_of(pod);
  if (!is_gated && claims.intended.empty() && !claims.is_reopened) {
    if (!claims.to_place.empty())
      state.reason = fmt::format("its claims are on devices that Berth owns, but it has no gate {}", kPlaceGate);
    return;
  }
  if (claims.waits_for) {
    state.reason = *claims.waits_for;
    return;
  }
  bool is_withdrawing = false;
  for (const Claim* claim : claims.intended) {
    const bool is_taken_back = claim_states_.at(claim->identity.name).is_taken_back;
    if (is_taken_back) state.avoided[node_of(*claim)] = now + kAvoidedFor;
    if (!is_taken_back && is_own_intent_sound(*claim)) continue;
    actions.push_back(withdraw_action(*claim, false));
    is_withdrawing = true;
  }
  if (is_withdrawing) {
    state.reason = "its devices are chosen anew";
    return;
  }
  if (!claims.to_place.empty()) return choose_for(pod, claims, now, actions);
  for (const Claim* claim : claims.intended) actions.push_back(allocate_action(*claim, wall));
  if (!claims.intended.empty()) return;
  if (claims.allocated.empty()) {
    state.reason = "none of its claims is on a device that Berth owns: they are left to the scheduler";
    return;
  }
  if (is_gated) actions.push_back(gate_action(pod));
}

Choice Placing::choose(const PodFacts& pod, const PodClaims& claims) {
  const PodState& state = pod_states_.at(pod.identity.name);
  std::string node;
  for (const auto& list : {claims.intended, claims.allocated}) {
    for (const Claim* claim : list) {
      if (node.empty()) node = node_of(*claim);
    }
  }
  std::set<std::string> avoided;
  for (const auto& [name, until] : state.avoided) avoided.insert(name);
  if (node.empty() && avoided.empty() && claims.to_place.size() == 1) {
    if (auto chosen = known_gpus_->choose(pod, *claims.to_place.front(), surroundings(), chooser_))
      return *std::move(chosen);
  }
  return chooser_.choose(pod, claims.to_place, surroundings(), node, avoided);
}

void Placing::choose_for(PodFacts& pod, const PodClaims& claims, Instant now, std::vector<Action>& actions) {
  PodState& state = pod_states_.at(pod.identity.name);
  // Nothing has changed since this pod was tried in vain.
  if (state.tried_at == change_count_ && state.avoided.empty()) {
    state.reason = state.tried_reason;
    return;
  }
  std::erase_if(state.avoided, [&](const auto& each) { return each.second <= now; });
  const bool is_usual = state.avoided.empty() && claims.intended.empty() && claims.allocated.empty();
  const std::string alike = is_usual ? alike_text(pod, claims.to_place) : std::string();
  const auto refused = refused_.find(alike);
  const Choice choice = is_usual && refused != refused_.end() ? Choice(NoChoice{refused->second}) : choose(pod, claims);
  if (const auto* none = std::get_if<NoChoice>(&choice)) {
    state.reason = none->reason;
    state.tried_at = change_count_;
    state.tried_reason = none->reason;
    if (is_usual) refused_.emplace(alike, none->reason);
    return;
  }
  const auto& chosen = std::get<Chosen>(choice);
  for (std::size_t i = 0; i < claims.to_place.size(); ++i) {
    actions.push_back(intent_action(pod, *claims.to_place[i], chosen.devices[i]));
    // Held from now on, and so is the room on the node.
    Claim intended = *claims.to_place[i];
    intended.intent = intent_text({.epoch = options_.epoch, .devices = chosen.devices[i]});
    const ObjectName name = intended.identity.name;
    set_claim(name, std::move(intended));
  }
}

/// Claims of slices get the device that a plan names, or none: other ones are never chosen for them. What the scheduler
/// took back from a pod that still waits is not allocated again: the plan will name another device.
void Placing::allocate_for_services(const std::string& wall, std::vector<Action>& actions) {
  for (const ObjectName& name : intents_) {
    const Claim& claim = claims_.at(name);
    const bool is_open = claim.is_of_service && !claim.is_being_deleted;
    if (!is_open || is_emptied(*claim.intent)) continue;
    const auto pod = pods_.find(name);  // it has the name of its claim
    const bool waits = pod != pods_.end() && pod->second.node.empty() && !pod->second.is_being_deleted;
    if (waits && claim_states_.at(name).is_taken_back) continue;
    actions.push_back(is_own_intent_sound(claim) ? allocate_action(claim, wall) : withdraw_action(claim, false));
  }
}

void Placing::release_unused(Instant now, std::vector<Action>& actions) {
  for (const ObjectName& name : unused_) {
    const Claim& claim = claims_.at(name);
    ClaimState& state = claim_states_.at(name);
    if (!state.unreferenced_since) state.unreferenced_since = now;
    if (now - *state.unreferenced_since < kUnreferencedMin && !claim.is_being_deleted) continue;
    actions.push_back(claim.is_allocated ? release_action(claim) : withdraw_action(claim, true));
  }
}

void Placing::take_outcome(const Action& action, const Result<WriteOutcome>& outcome) {
  const Write& write = action.write;
  if (action.kind == ActionKind::kEvent) return take_event(write, outcome);
  const bool is_pod = write.resource.plural == kPods.plural;
  const bool has_object = outcome && std::holds_alternative<yaml::Map>(outcome->object.value);
  if (has_object) {
    if (auto identity = identity_of(outcome->object)) {
      return take(write.resource.plural, {ChangeKind::kModified, *std::move(identity), outcome->object});
    }
  }
  if (outcome && outcome->fate == WriteFate::kGone) {
    return take(write.resource.plural, {ChangeKind::kDeleted, {write.name, write.uid, write.version}, {}});
  }
  if (is_pod || action.kind != ActionKind::kIntent) return;
  // Not written: the devices are free again, until a watch says otherwise.
  const auto found = claims_.find(write.name);
  if (found == claims_.end() || found->second.identity.version != write.version) return;
  ++change_count_;
  Claim claim = found->second;
  claim.intent.reset();
  set_claim(write.name, std::move(claim));
}

std::optional<std::string> Placing::why(const ObjectName& pod) const {
  const auto state = pod_states_.find(pod);
  if (state == pod_states_.end() || state->second.reason.empty()) return std::nullopt;
  return state->second.reason;
}

}  // namespace berth::kube
