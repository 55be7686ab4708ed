#include "kube/standby/standby_book.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "domain/mig/catalogue.h"
#include "domain/values/gpu_name.h"
#include "kube/devices/claim.h"
#include "kube/fleet/planned_gpus.h"
#include "kube/placing/placing.h"
#include "kube/replicas/replica_book.h"
#include "kube/services/custom_resources.h"
#include "kube/world/cluster_world.h"
#include "live/session/observed_gpus.h"

namespace berth::kube {
namespace {

bool is_gone(const Change& change) {
  return change.kind == ChangeKind::kDeleted ||
         !json::text_at(change.object, {"metadata", "deletionTimestamp"}).empty();
}

/// The generation at the end of a slice's name, "gpu-3-1g.10gb-2-7".
std::uint64_t generation_in(std::string_view slice) {
  const std::string_view digits = slice.substr(slice.rfind('-') + 1);
  std::uint64_t generation = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), generation);
  return error == std::errc() && end == digits.data() + digits.size() ? generation : 0;
}

bool is_ready(const yaml::Node& pod) {
  return std::ranges::any_of(json::list_at(pod, {"status", "conditions"}), [](const yaml::Node& each) {
    return json::text_at(each, {"type"}) == "Ready" && json::text_at(each, {"status"}) == "True";
  });
}

/// The devices that a claim has, or is about to get.
std::vector<DeviceName> devices_of(const Claim& claim) {
  const auto intent = claim.is_allocated || !claim.intent ? std::nullopt : parse_intent(*claim.intent);
  std::vector<DeviceName> devices;
  for (const AllocatedDevice& each : claim.is_allocated ? claim.allocated
                                     : intent           ? intent->devices
                                                        : std::vector<AllocatedDevice>())
    devices.push_back(each.device);
  return devices;
}

/// What the status of a service says about the slice at this place; null: nothing.
const yaml::Node* listed_slice(const yaml::Node& service, const GpuModel& model, const Slice& slice) {
  const std::string profile = profile_name(model, slice.profile);
  const yaml::Node* found = nullptr;
  for (const yaml::Node& each : json::list_at(service, {"status", "slices"})) {
    const yaml::Node* const start = json::find_member(each, "start");
    if (json::text_at(each, {"profile"}) != profile || start == nullptr) continue;
    if (json::integer_in<int>(*start) != slice.start) continue;
    // The leader may number GPUs otherwise.
    if (json::text_at(each, {"gpu"}) == gpu_name(slice.gpu)) return &each;
    found = &each;
  }
  return found;
}

std::optional<live::SliceState> state_in(std::string_view word) {
  using enum live::SliceState;
  for (const live::SliceState state :
       {kCreating, kStarting, kServing, kRetraining, kDraining, kIdle, kForeign, kLost}) {
    if (live::word(state) == word) return state;
  }
  return std::nullopt;
}

}  // namespace

StandbyBook::StandbyBook(std::vector<OwnedPools> own) : own_(std::move(own)) {}
StandbyBook::~StandbyBook() = default;

void StandbyBook::own(std::vector<OwnedPools> own) {
  own_ = std::move(own);
  stamps_.reset();
  world_.reset();
}

void StandbyBook::take(std::string_view plural, const Change& change) {
  const ObjectName& name = change.identity.name;
  if (plural == kTenants.plural || plural == kGpuServices.plural) {
    const auto put = [&](auto& objects, const auto& key) {
      if (is_gone(change)) {
        objects.erase(key);
      } else {
        objects.insert_or_assign(key, std::make_shared<const yaml::Node>(change.object));
      }
    };
    plural == kTenants.plural ? put(tenants_, name.name) : put(services_, name);
    return;
  }
  const bool is_deleted = change.kind == ChangeKind::kDeleted;
  const std::string_view service = json::text_at(change.object, {"metadata", "labels", kServiceLabel});
  if (plural == kResourceClaims.plural) {
    claims_.erase(name);
    if (is_deleted || service.empty()) return;
    const std::string_view slice = json::text_at(change.object, {"metadata", "labels", kSliceLabel});
    claims_[name] = {.service = std::string(service), .generation = generation_in(slice)};
  } else if (plural == kPods.plural) {
    pods_.erase(name);
    if (is_deleted || service.empty()) return;
    pods_[name] = {.is_ready = is_ready(change.object), .is_leaving = is_gone(change)};
  }
}

// ---- GPUs

void StandbyBook::find_gpus(const Inventory& inventory) {
  std::int64_t stamps = 0;
  std::set<PoolName> pools;
  for (const auto& [name, pool] : inventory.pools()) {
    if (!is_owned(own_, name)) continue;
    pools.insert(name);
    stamps += pool.stamp;
  }
  if (stamps_ == stamps && pools == pools_) return;
  stamps_ = stamps;
  pools_ = std::move(pools);
  const std::vector<PlannedGpu> found = planned_gpus(inventory, pools_);
  const std::vector<device::LocalGpu> known = fleet_of(found);
  bool is_other = world_ == nullptr;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto at = std::ranges::find(fleet_, known[i].uuid, &device::LocalGpu::uuid);
    const auto index = static_cast<std::uint32_t>(at - fleet_.begin());
    is_other = is_other || at == fleet_.end() || *at != known[i];
    if (at == fleet_.end()) {
      fleet_.push_back(known[i]);
    } else {
      *at = known[i];
    }
    put_places(index, found[i]);
  }
  if (is_other)
    world_ = std::make_unique<ClusterWorld>(ClusterWorldOptions{.own = own_, .fleet = fleet_, .world = "standby"});
}

void StandbyBook::put_places(std::uint32_t index, const PlannedGpu& planned) {
  std::erase_if(places_, [&](const auto& entry) { return entry.second.gpu.index == index; });
  const auto put = [&](const std::string& device) {
    const auto place = place_of(planned, device);
    if (!place) return;
    const Slice slice{.gpu = {index}, .start = place->second, .profile = place->first};
    places_.insert_or_assign(DeviceName{planned.pool, device}, slice);
  };
  for (const auto& [device, place] : planned.places) put(device);
  if (!planned.whole.empty()) put(planned.whole);
}

void StandbyBook::add_gpus(StandbyPicture& picture) {
  states_.resize(fleet_.size(), GpuState{.health_since = picture.at, .scheduling_since = picture.at});
  for (std::uint32_t index = 0; index < fleet_.size(); ++index) {
    const ClusterWorld::GpuView view = world_->view({index});
    const bool is_lost = view.node.empty();
    GpuState& state = states_[index];
    const GpuHealth health = is_lost ? GpuHealth::kLost : GpuHealth::kOk;
    if (std::exchange(state.health, health) != health) state.health_since = picture.at;
    state.health_reason = is_lost ? "the cluster does not have " + fleet_[index].uuid : "";
    const std::string reason = view.closed ? std::string(live::kObserved) + *view.closed : "";
    const GpuScheduling scheduling = !view.closed      ? GpuScheduling::kOpen
                                     : view.is_drained ? GpuScheduling::kDraining
                                                       : GpuScheduling::kCordoned;
    if (std::exchange(state.scheduling, scheduling) != scheduling || state.scheduling_reason != reason)
      state.scheduling_since = picture.at;
    state.scheduling_reason = reason;
    picture.gpus.push_back({.known = fleet_[index], .node = view.node, .closed = view.closed, .state = state});
  }
}

/// A drained GPU is cordoned.
void StandbyBook::note_drained(StandbyPicture& picture) {
  for (std::uint32_t index = 0; index < picture.gpus.size(); ++index) {
    StandbyGpu& gpu = picture.gpus[index];
    if (gpu.state.scheduling != GpuScheduling::kDraining) continue;
    gpu.is_drained =
        std::ranges::none_of(picture.slices, [&](const StandbySlice& each) { return each.slice.gpu.index == index; });
    if (gpu.is_drained) gpu.state.scheduling = GpuScheduling::kCordoned;
  }
}

// ---- slices

live::SliceState StandbyBook::state_of(const Claim& claim, const ObjectName& service) const {
  using enum live::SliceState;
  const auto pod = pods_.find(claim.identity.name);
  if (claim.is_being_deleted || (pod != pods_.end() && pod->second.is_leaving)) return kDraining;
  if (!claim.is_allocated) return kCreating;
  if (pod != pods_.end()) return pod->second.is_ready ? kServing : kStarting;
  const auto object = services_.find(service);
  const bool has_pod = object != services_.end() && json::find_at(*object->second, {"spec", "pod"}) != nullptr;
  return has_pod ? kStarting : kServing;
}

StandbySlice StandbyBook::slice_of(const Claim& claim, const DeviceName& device, const Slice& place) const {
  StandbySlice slice{.slice = place, .device = device};
  const ObjectName& name = claim.identity.name;
  const bool is_lost = states_[place.gpu.index].health == GpuHealth::kLost;
  if (const auto ours = claims_.find(name); ours != claims_.end()) {
    slice.service = ObjectName{name.namespace_name, ours->second.service};
    slice.generation = std::max<std::uint64_t>(1, ours->second.generation);
    slice.state = state_of(claim, *slice.service);
    const auto object = services_.find(*slice.service);
    const GpuModel& model = fleet_[place.gpu.index].model;
    const yaml::Node* const listed = object == services_.end() ? nullptr : listed_slice(*object->second, model, place);
    if (listed != nullptr) {
      slice.is_retraining = json::text_at(*listed, {"role"}) == "retraining";
      // Whether a slice is about to leave, or retrains, only the plan says.
      const auto stated = state_in(json::text_at(*listed, {"state"}));
      if (stated == live::SliceState::kDraining || stated == live::SliceState::kRetraining) slice.state = *stated;
    }
  }
  if (is_lost) slice.state = live::SliceState::kLost;
  return slice;
}

void StandbyBook::add_slices(const Placing& placing, StandbyPicture& picture) {
  std::map<DeviceName, Instant> seen_at;
  for (const auto& [name, claim] : placing.claims()) {
    for (const DeviceName& device : devices_of(claim)) {
      const auto place = places_.find(device);
      if (place == places_.end()) continue;
      StandbySlice slice = slice_of(claim, device, place->second);
      const auto since = seen_at_.find(device);
      slice.seen_at = since == seen_at_.end() ? picture.at : since->second;
      seen_at.emplace(device, slice.seen_at);
      picture.slices.push_back(std::move(slice));
    }
  }
  seen_at_ = std::move(seen_at);
  const auto key = [](const StandbySlice& each) { return std::tuple(each.slice, UINT64_MAX - each.generation); };
  std::sort(picture.slices.begin(), picture.slices.end(),
            [&](const StandbySlice& a, const StandbySlice& b) { return key(a) < key(b); });
}

// ---- tenants and services

void StandbyBook::add_specs(StandbyPicture& picture) const {
  picture.tenants = tenants_;
  for (const auto& [name, object] : services_) {
    picture.tenants.try_emplace(name.namespace_name);
    // The leader's API does not have it either.
    if (json::text_at(*object, {"status", "phase"}) != "Refused") picture.services.emplace(name, object);
  }
}

StandbyPicture StandbyBook::read(const Placing& placing, Instant now) {
  StandbyPicture picture{.at = now};
  find_gpus(placing.inventory());
  if (world_) {
    world_->see(placing, now);
    add_gpus(picture);
    add_slices(placing, picture);
    note_drained(picture);
  }
  add_specs(picture);
  return picture;
}

}  // namespace berth::kube
