#include "kube/replicas/replica_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json/node_text.h"
#include "base/json/tree.h"

namespace berth::kube {
namespace {

bool is_condition_true(const yaml::Node& pod, std::string_view type) {
  const auto& conditions = json::list_at(pod, {"status", "conditions"});
  return std::ranges::any_of(conditions, [&](const yaml::Node& condition) {
    return json::text_at(condition, {"type"}) == type && json::text_at(condition, {"status"}) == "True";
  });
}

/// Why the scheduler does not bind a pod; empty: it does, or has not tried yet.
std::string unbound_reason(const yaml::Node& pod) {
  for (const yaml::Node& condition : json::list_at(pod, {"status", "conditions"})) {
    const bool is_unbound = json::text_at(condition, {"type"}) == "PodScheduled" &&
                            json::text_at(condition, {"status"}) == "False" &&
                            json::text_at(condition, {"reason"}) == "Unschedulable";
    if (is_unbound) return std::string(json::text_at(condition, {"message"}));
  }
  return {};
}

/// Whether the scheduler has taken an allocation back: the claim controller releases only what was reserved before.
bool is_taken_back(const Claim& before, const Claim& now) {
  return before.identity.uid == now.identity.uid && before.is_allocated && !before.is_reserved && !now.is_allocated &&
         !now.is_being_deleted && before.intent == now.intent;
}

/// The devices that a claim has, or is about to get.
std::vector<AllocatedDevice> devices_of(const Claim& claim) {
  if (claim.is_allocated) return claim.allocated;
  const auto intent = claim.intent ? parse_intent(*claim.intent) : std::nullopt;
  return intent ? intent->devices : std::vector<AllocatedDevice>();
}

bool is_finished(const std::string& phase) { return phase == "Failed" || phase == "Succeeded"; }

}  // namespace

// ---- what stands

void ReplicaBook::take(std::string_view plural, const Change& change) {
  if (plural == kPods.plural) return take_pod(change);
  if (plural == kResourceClaims.plural) return take_claim(change);
}

void ReplicaBook::take_claim(const Change& change) {
  const ObjectName& name = change.identity.name;
  const bool is_ours = !json::text_at(change.object, {"metadata", "labels", kServiceLabel}).empty();
  if (change.kind == ChangeKind::kDeleted || !is_ours) {
    const auto found = objects_.find(name);
    if (found == objects_.end()) return;
    found->second.claim.reset();
    return forget_gone(name);
  }
  auto claim = read_claim(change.object);
  if (!claim) return;
  Objects& objects = objects_[name];
  if (objects.claim && is_taken_back(*objects.claim, *claim)) objects.is_taken_back = true;
  if (claim->is_allocated || (objects.claim && objects.claim->identity.uid != claim->identity.uid))
    objects.is_taken_back = false;
  objects.claim = *std::move(claim);
  objects.service = json::text_at(change.object, {"metadata", "labels", kServiceLabel});
  objects.is_of_this_world = json::text_at(change.object, {"metadata", "labels", kWorldLabel}) == options_.world;
}

void ReplicaBook::take_pod(const Change& change) {
  const ObjectName& name = change.identity.name;
  const bool is_ours = !json::text_at(change.object, {"metadata", "labels", kServiceLabel}).empty();
  if (change.kind == ChangeKind::kDeleted || !is_ours) {
    const auto found = objects_.find(name);
    if (found == objects_.end()) return;
    found->second.pod.reset();
    found->second.pod_phase.clear();
    found->second.is_pod_ready = false;
    found->second.pod_waits_for.clear();
    return forget_gone(name);
  }
  Objects& objects = objects_[name];
  objects.pod = change.identity;
  objects.service = json::text_at(change.object, {"metadata", "labels", kServiceLabel});
  objects.is_of_this_world = json::text_at(change.object, {"metadata", "labels", kWorldLabel}) == options_.world;
  objects.pod_phase = json::text_at(change.object, {"status", "phase"});
  objects.pod_template = json::text_at(change.object, {"metadata", "annotations", kTemplateAnnotation});
  objects.is_pod_being_deleted = !json::text_at(change.object, {"metadata", "deletionTimestamp"}).empty();
  objects.pod_waits_for = unbound_reason(change.object);
  objects.is_pod_ready = !objects.is_pod_being_deleted && is_condition_true(change.object, "Ready");
}

void ReplicaBook::forget_gone(const ObjectName& name) {
  const auto found = objects_.find(name);
  if (found != objects_.end() && found->second.is_gone()) objects_.erase(found);
}

// ---- what is wanted

std::optional<ObjectName> ReplicaBook::find_standing(const WantedReplica& wanted) const {
  for (const auto& [name, objects] : objects_) {
    const bool is_candidate = name.namespace_name == wanted.tenant && objects.service == wanted.service &&
                              objects.claim && !objects.claim->is_being_deleted && !slices_of_.contains(name);
    if (!is_candidate) continue;
    const std::vector<AllocatedDevice> devices = devices_of(*objects.claim);
    if (devices.size() == 1 && devices.front().device == wanted.device) return name;
  }
  return std::nullopt;
}

std::map<ObjectName, ReplicaBook::Standing> ReplicaBook::unknown() const {
  std::map<ObjectName, Standing> unknown;
  for (const auto& [name, objects] : objects_) {
    if (!objects.claim || objects.claim->is_being_deleted || slices_of_.contains(name)) continue;
    const std::vector<AllocatedDevice> devices = devices_of(*objects.claim);
    if (devices.size() == 1) unknown.emplace(name, Standing{objects.service, devices.front().device});
  }
  return unknown;
}

void ReplicaBook::want(std::vector<WantedReplica> wanted, Instant now) {
  has_wants_ = true;
  std::set<std::string> known;
  for (WantedReplica& each : wanted) {
    const std::string slice = each.slice;
    known.insert(slice);
    const auto found = replicas_.find(slice);
    if (found != replicas_.end() && !each.is_leaving && !found->second.is_for_holder_of(each)) {
      forget(found);
    } else if (found != replicas_.end()) {
      found->second.wanted.is_leaving = each.is_leaving;
      found->second.wanted.pod = std::move(each.pod);
      continue;
    }
    Replica replica{.wanted = std::move(each), .object = {}, .waits_since = now};
    const auto taken_back = taken_back_.find({replica.wanted.tenant, replica.wanted.service});
    if (taken_back != taken_back_.end()) replica.not_before = taken_back->second.next_not_before;
    const auto standing = find_standing(replica.wanted);
    replica.object = standing.value_or(name_of(replica.wanted));
    slices_of_[replica.object] = slice;
    replicas_.emplace(slice, std::move(replica));
  }
  std::erase_if(replicas_, [&](const auto& entry) {
    if (known.contains(entry.first)) return false;
    slices_of_.erase(entry.second.object);
    return true;
  });
}

/// A slice keeps its name when it gets another holder: that one's objects have other names, and these end.
void ReplicaBook::forget(std::map<std::string, Replica>::iterator replica) {
  std::erase_if(news_, [&](const ReplicaNews& news) { return news.slice == replica->first; });
  slices_of_.erase(replica->second.object);
  replicas_.erase(replica);
}

void ReplicaBook::fail(Replica& replica, std::string why, ReplicaNewsKind kind) {
  if (std::exchange(replica.has_failed, true)) return;
  news_.push_back({.kind = kind, .slice = replica.wanted.slice, .text = std::move(why)});
}

bool ReplicaBook::note_taken_back(Replica& replica, const Objects& objects, Instant now) {
  // Without a pod that waits for it somebody else has released the claim: it is allocated again.
  if (!objects.is_taken_back || !objects.pod || objects.is_pod_being_deleted) {
    replica.taken_back_at.reset();
    return false;
  }
  if (!replica.taken_back_at) replica.taken_back_at = now;
  if (objects.pod_waits_for.empty() && now - *replica.taken_back_at < kReasonWithin) return true;
  if (replica.has_failed) return true;
  TakenBack& history = taken_back_[{replica.wanted.tenant, replica.wanted.service}];
  if (++history.count > 1) {
    const std::int64_t doublings = std::min<std::int64_t>(history.count - 2, 10);
    history.next_not_before = now + std::min(kTakenBackPauseMax, kTakenBackPause * (std::int64_t{1} << doublings));
  }
  fail(replica,
       fmt::format("the scheduler took the device of claim {} back: pod {}", replica.object.text(),
                   objects.pod_waits_for.empty() ? "cannot run on its node" : "waits: " + objects.pod_waits_for),
       ReplicaNewsKind::kTakenBack);
  return true;
}

void ReplicaBook::note_ready(Replica& replica, const Objects& objects, Instant now) {
  const bool has_pod = !replica.wanted.pod.empty();
  const bool is_ready = objects.claim && objects.claim->is_allocated && (!has_pod || objects.is_pod_ready);
  if (!is_ready) {
    if (std::exchange(replica.is_ready, false)) replica.waits_since = now;
    return;
  }
  if (std::exchange(replica.is_ready, true)) return;
  taken_back_.erase({replica.wanted.tenant, replica.wanted.service});
  news_.push_back(
      {.kind = ReplicaNewsKind::kReady, .slice = replica.wanted.slice, .text = {}, .took = now - replica.waits_since});
}

void ReplicaBook::begin_again() {
  replicas_.clear();
  slices_of_.clear();
  news_.clear();
  has_wants_ = false;
  std::erase_if(objects_, [](const auto& each) { return each.second.is_gone(); });
}

// ---- what follows

std::vector<Action> ReplicaBook::decide(Instant now) {
  std::vector<Action> actions;
  if (!has_wants_) return actions;
  const auto add = [&](std::optional<Action> action) {
    if (action) actions.push_back(*std::move(action));
  };
  find_leaving_devices();
  for (auto& [slice, replica] : replicas_) add(next_for(replica, now));
  for (const auto& [name, objects] : objects_) {
    if (objects.is_of_this_world && !slices_of_.contains(name)) add(end_of(name, "no slice"));
  }
  return actions;
}

void ReplicaBook::find_leaving_devices() {
  leaving_devices_.clear();
  for (const auto& [name, objects] : objects_) {
    if (!objects.is_of_this_world || !objects.claim || slices_of_.contains(name)) continue;
    for (const AllocatedDevice& each : devices_of(*objects.claim)) leaving_devices_.insert(each.device);
  }
}

std::optional<Action> ReplicaBook::next_for(Replica& replica, Instant now) {
  const auto found = objects_.find(replica.object);
  const Objects objects = found == objects_.end() ? Objects() : found->second;
  if (replica.wanted.is_leaving || replica.has_failed) {
    if (!objects.is_gone()) return end_of(replica.object, replica.wanted.slice);
    if (replica.wanted.is_leaving) news_.push_back({.kind = ReplicaNewsKind::kGone, .slice = replica.wanted.slice});
    return std::nullopt;
  }
  note_ready(replica, objects, now);
  if (!replica.is_ready && now - replica.waits_since >= kReadyWithin) {
    fail(replica,
         fmt::format("its pod {} was not Ready within {} s{}{}", replica.object.text(),
                     kReadyWithin.count() / kMicrosPerSecond, replica.trouble.empty() ? "" : ": ", replica.trouble));
    return end_of(replica.object, replica.wanted.slice);
  }
  if (!objects.claim) {
    if (objects.pod) return end_of(replica.object, replica.wanted.slice);  // somebody deleted its claim
    if (now < replica.not_before || leaving_devices_.contains(replica.wanted.device)) return std::nullopt;
    return claim_action(replica);
  }
  if (objects.claim->is_being_deleted) return end_of(replica.object, replica.wanted.slice);
  if (note_taken_back(replica, objects, now))
    return replica.has_failed ? end_of(replica.object, replica.wanted.slice) : std::nullopt;
  const auto devices = devices_of(*objects.claim);
  if (devices.empty() || devices.front().device != replica.wanted.device) {
    fail(replica, fmt::format("claim {} cannot have {}: another claim holds it, or something of it",
                              replica.object.text(), replica.wanted.device.text()));
    return end_of(replica.object, replica.wanted.slice);
  }
  const bool is_to_go = objects.pod && (is_finished(objects.pod_phase) || is_to_be_replaced(replica, objects));
  if (is_to_go) return end_of(replica.object, replica.wanted.slice);
  if (objects.pod || replica.wanted.pod.empty() || now < replica.not_before) return std::nullopt;
  auto pod = pod_action(replica);
  if (pod) return *std::move(pod);
  fail(replica, pod.error().message);
  return std::nullopt;
}

bool ReplicaBook::is_to_be_replaced(const Replica& replica, const Objects& objects) const {
  if (replica.wanted.pod.empty() || objects.pod_template == template_name(replica.wanted.pod)) return false;
  return std::ranges::all_of(replicas_, [&](const auto& entry) {
    const Replica& other = entry.second;
    const bool is_of_service =
        other.wanted.tenant == replica.wanted.tenant && other.wanted.service == replica.wanted.service;
    return !is_of_service || other.wanted.is_leaving || &other == &replica || other.is_ready;
  });
}

/// The pod, then the claim; nothing while they go.
std::optional<Action> ReplicaBook::end_of(const ObjectName& name, const std::string& slice) const {
  const auto found = objects_.find(name);
  if (found == objects_.end()) return std::nullopt;
  const Objects& objects = found->second;
  const auto end = [&](ActionKind kind, const Resource& resource, const Identity& identity) {
    return Action{kind,
                  {.kind = WriteKind::kDelete, .resource = resource, .name = name, .uid = identity.uid},
                  fmt::format("{} {} of slice {}", kind == ActionKind::kEndPod ? "pod" : "claim", name.text(), slice)};
  };
  if (objects.pod) {
    if (objects.is_pod_being_deleted) return std::nullopt;
    return end(ActionKind::kEndPod, kPods, *objects.pod);
  }
  const auto replica = slices_of_.contains(name) ? replicas_.find(slices_of_.at(name)) : replicas_.end();
  const bool stays = replica != replicas_.end() && !replica->second.wanted.is_leaving && !replica->second.has_failed;
  if (stays || !objects.claim || objects.claim->is_being_deleted) return std::nullopt;
  return end(ActionKind::kEndClaim, kResourceClaims, objects.claim->identity);
}

void ReplicaBook::take_outcome(const Action& action, const Result<WriteOutcome>& outcome, Instant now) {
  const Write& write = action.write;
  if (!outcome) return;
  const bool has_object = std::holds_alternative<yaml::Map>(outcome->object.value);
  const bool is_deletion = action.kind == ActionKind::kEndPod || action.kind == ActionKind::kEndClaim;
  if (has_object) {
    if (auto identity = identity_of(outcome->object))
      take(write.resource.plural, {ChangeKind::kModified, *std::move(identity), outcome->object});
  }
  if (is_deletion) {
    if (outcome->fate == WriteFate::kGone)
      take(write.resource.plural, {ChangeKind::kDeleted, {write.name, "", ""}, {}});
    return;
  }
  const auto slice = slices_of_.find(write.name);
  if (slice == slices_of_.end()) return;
  Replica& replica = replicas_.at(slice->second);
  const bool is_done = outcome->fate == WriteFate::kDone || outcome->fate == WriteFate::kUnknown;
  replica.trouble = is_done ? "" : outcome->message;
  if (is_done) return;
  replica.not_before = now + kCreationPause;  // no namespace, a quota, a template that the server refuses
}

std::vector<ReplicaView> ReplicaBook::views() const {
  std::vector<ReplicaView> views;
  for (const auto& [slice, replica] : replicas_) {
    const auto found = objects_.find(replica.object);
    views.push_back({.slice = slice,
                     .object = replica.object,
                     .is_ready = replica.is_ready,
                     .phase = found == objects_.end() ? std::string() : found->second.pod_phase});
  }
  return views;
}

}  // namespace berth::kube
