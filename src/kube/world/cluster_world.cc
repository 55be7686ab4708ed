#include "kube/world/cluster_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "domain/mig/catalogue.h"
#include "domain/values/snapshot.h"
#include "live/session/device_intent.h"
#include "live/session/entry.h"
#include "live/session/object_names.h"
#include "live/session/observed_gpus.h"
#include "live/session/session.h"
#include "world/slices/adopt.h"

namespace berth::kube {
namespace {

constexpr int kIntentRoundsMax = 8;  // destructions that end make room for creations

}  // namespace

std::vector<device::LocalGpu> fleet_of(const std::vector<PlannedGpu>& gpus) {
  std::vector<device::LocalGpu> fleet;
  fleet.reserve(gpus.size());
  for (const PlannedGpu& gpu : gpus)
    fleet.push_back({.uuid = gpu.key, .name = gpu.product, .pci_bus_id = {}, .model = gpu.model, .differences = {}});
  return fleet;
}

ClusterWorld::ClusterWorld(ClusterWorldOptions options)
    : options_(std::move(options)), replicas_({.world = options_.world, .epoch = options_.epoch}) {
  put_fleet(options_.fleet);
}

void ClusterWorld::put_fleet(const std::vector<device::LocalGpu>& fleet) {
  gpus_.clear();
  gpus_.reserve(fleet.size());
  for (const device::LocalGpu& known : fleet) {
    gpus_.push_back({.known = known});
    known_pools_.insert(known.uuid.substr(0, known.uuid.rfind('/')));  // PlannedGpu::key
  }
}

void ClusterWorld::begin_again(const std::vector<device::LocalGpu>& fleet) {
  put_fleet(fleet);
  gpu_of_.clear();
  new_gpus_.clear();
  wanted_fleet_.reset();
  excess_.clear();
  stamps_.reset();
  held_ = {};
  replicas_.begin_again();
  reserved_.clear();
  programs_.clear();
}

// ---- beside the cluster

void ClusterWorld::own(std::vector<OwnedPools> own) {
  options_.own = std::move(own);
  stamps_.reset();
}

/// A pool that is not owned any more has GPUs of the folder.
bool ClusterWorld::is_followed(const PoolName& pool) const {
  return is_owned(options_.own, pool) || known_pools_.contains(pool.text());
}

void ClusterWorld::see(const Placing& placing, Instant now) {
  find_gpus(placing.inventory(), now);
  for (Gpu& gpu : gpus_) gpu.is_gone = !gpu.found || (gpu.missing_since && now - *gpu.missing_since >= kGoneAfter);
  close_gpus(placing, now);
  see_foreign(placing);
  see_claims_of_gone(placing);
}

void ClusterWorld::find_gpus(const Inventory& inventory, Instant now) {
  if (stamps_ && structure_ == inventory.structure_count()) return;
  structure_ = inventory.structure_count();
  std::int64_t stamps = 0;
  std::set<PoolName> pools;
  for (const auto& [name, pool] : inventory.pools()) {
    if (!is_followed(name)) continue;
    pools.insert(name);
    stamps += pool.stamp;
  }
  if (stamps_ == stamps && pools == pools_) return;
  stamps_ = stamps;
  has_new_pools_ = true;
  pools_ = std::move(pools);
  const std::vector<PlannedGpu> planned_gpus_now = planned_gpus(inventory, pools_);
  gpu_of_.clear();
  const std::map<std::string, NewGpu> new_before = std::exchange(new_gpus_, {});
  for (Gpu& gpu : gpus_) {
    if (!gpu.missing_since) gpu.missing_since = now;
  }
  for (const PlannedGpu& planned : planned_gpus_now) {
    const auto known = std::ranges::find(gpus_, planned.key, [](const Gpu& gpu) { return gpu.known.uuid; });
    if (known == gpus_.end() && !is_owned(options_.own, planned.pool)) continue;
    if (known == gpus_.end()) {
      const auto before = new_before.find(planned.key);
      new_gpus_.insert({planned.key, {planned, before == new_before.end() ? now : before->second.since}});
      continue;
    }
    known->found = planned;
    known->missing_since.reset();
    const auto index = static_cast<std::uint32_t>(known - gpus_.begin());
    for (const auto& [device, place] : planned.places) gpu_of_[{planned.pool, device}] = index;
    if (!planned.whole.empty()) gpu_of_[{planned.pool, planned.whole}] = index;
  }
}

void ClusterWorld::close_gpus(const Placing& placing, Instant now) {
  std::erase_if(avoided_, [&](const auto& each) { return each.second.until <= now; });
  for (Gpu& gpu : gpus_) {
    gpu.closed.reset();
    gpu.is_drained = false;
    if (gpu.is_gone) continue;
    if (!is_owned(options_.own, gpu.found->pool)) {
      gpu.closed = fmt::format("kubernetes.own does not name pool {} any more", gpu.found->pool.text());
      continue;
    }
    if (!device::have_same_placements(gpu.known.model, gpu.found->model)) {
      gpu.closed = "its devices have changed since this folder began";
      continue;
    }
    const auto node = placing.nodes().find(gpu.found->node);
    if (node == placing.nodes().end()) {
      gpu.closed = fmt::format("node {} does not exist", gpu.found->node);
    } else if (!node->second.is_ready) {
      gpu.closed = fmt::format("node {} is not Ready", gpu.found->node);
    } else if (node->second.is_cordoned) {
      gpu.closed = fmt::format("node {} is cordoned", gpu.found->node);
    } else if (const auto avoided = avoided_.find(gpu.found->node); avoided != avoided_.end()) {
      gpu.closed = avoided->second.why;
    }
  }
  find_taints(placing);
  for (Gpu& gpu : gpus_) {
    if (!gpu.tainted || (gpu.closed && !gpu.has_drain_taint)) continue;
    gpu.closed = gpu.tainted;
    gpu.is_drained = gpu.has_drain_taint;
  }
}

void ClusterWorld::find_taints(const Placing& placing) {
  if (!std::exchange(has_new_pools_, false) && rules_ == placing.taint_rules()) return;
  rules_ = placing.taint_rules();
  for (Gpu& gpu : gpus_) {
    gpu.tainted.reset();
    gpu.has_drain_taint = false;
  }
  const auto close = [&](std::uint32_t index, const DeviceTaint& taint, const std::string& device) {
    const bool is_drain = taint.effect == "NoExecute";
    if (!is_drain && taint.effect != "NoSchedule") return;
    Gpu& gpu = gpus_[index];
    if (gpu.has_drain_taint || (gpu.tainted && !is_drain)) return;
    gpu.tainted = fmt::format("device {} has the taint {}:{}", device, taint.key, taint.effect);
    gpu.has_drain_taint = is_drain;
  };
  const auto& pools = placing.inventory().pools();
  for (const auto& [device, index] : gpu_of_) {
    const auto pool = pools.find(device.pool);
    const auto at = pool == pools.end() ? std::nullopt : pool->second.find(device.device);
    if (!at) continue;
    for (const DeviceTaint& taint : pool->second.pool.devices[*at].taints) close(index, taint, device.device);
    for (const auto& [name, rule] : placing.taint_rules()) {
      const auto covers = [](const std::string& wanted, const std::string& found) {
        return wanted.empty() || wanted == found;
      };
      if (covers(rule.driver, device.pool.driver) && covers(rule.pool, device.pool.pool) &&
          covers(rule.device, device.device)) {
        close(index, rule.taint, device.device);
      }
    }
  }
}

std::optional<Slice> ClusterWorld::slice_of(std::uint32_t gpu, const std::string& device) const {
  const std::optional<PlannedGpu>& found = gpus_[gpu].found;
  const auto place = found ? place_of(*found, device) : std::nullopt;
  if (!place) return std::nullopt;
  const GpuModel& model = gpus_[gpu].known.model;
  const auto profile = mig::find_profile(model, profile_name(found->model, place->first));
  if (!profile || (profile->is_full() && !model.has_full)) return std::nullopt;
  return Slice{.gpu = {gpu}, .start = place->second, .profile = *profile};
}

std::optional<DeviceName> ClusterWorld::device_of(const Slice& slice) const {
  const Gpu& gpu = gpus_[slice.gpu.index];
  if (!gpu.found) return std::nullopt;
  const auto profile = mig::find_profile(gpu.found->model, profile_name(gpu.known.model, slice.profile));
  const auto device = profile ? gpu.found->devices.find({*profile, slice.start}) : gpu.found->devices.end();
  if (device == gpu.found->devices.end()) return std::nullopt;
  return DeviceName{gpu.found->pool, device->second};
}

void ClusterWorld::see_foreign(const Placing& placing) {
  for (Gpu& gpu : gpus_) gpu.foreign.clear();
  for (Gpu& gpu : gpus_) gpu.foreign_tenants.clear();
  for (const auto& [name, claim] : placing.claims()) {
    if (replicas_.is_known(name)) continue;
    const auto intent = claim.is_allocated || !claim.intent ? std::nullopt : parse_intent(*claim.intent);
    for (const AllocatedDevice& each : claim.is_allocated ? claim.allocated
                                       : intent           ? intent->devices
                                                          : std::vector<AllocatedDevice>()) {
      const auto at = gpu_of_.find(each.device);
      const auto slice = at == gpu_of_.end() ? std::nullopt : slice_of(at->second, each.device.device);
      if (!slice) continue;
      gpus_[at->second].foreign.push_back(*slice);
      gpus_[at->second].foreign_tenants.emplace(*slice, name.namespace_name);
    }
  }
  for (Gpu& gpu : gpus_) {
    std::sort(gpu.foreign.begin(), gpu.foreign.end());
    gpu.foreign.erase(std::unique(gpu.foreign.begin(), gpu.foreign.end()), gpu.foreign.end());
  }
}

// ---- beside the session

std::map<GpuId, std::string> ClusterWorld::observed() const {
  std::map<GpuId, std::string> observed;
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    if (gpus_[index].closed) observed[{index}] = *gpus_[index].closed;
  }
  return observed;
}

std::map<GpuId, world::ObservedLayout> ClusterWorld::sights() const {
  std::map<GpuId, world::ObservedLayout> sights;
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    if (!gpus_[index].is_gone) sights[{index}] = {.slices = gpus_[index].foreign, .is_of_others = true};
  }
  return sights;
}

void ClusterWorld::adopt(sim::WorldLeft& left) const {
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    world::DeviceMemory& memory = left.devices[index];
    if (gpus_[index].is_gone) {
      memory.is_lost = true;
      memory.slices.clear();
      left.losses[{index}] = fmt::format("the cluster does not have {}", gpus_[index].known.uuid);
      continue;
    }
    std::vector<Slice> existing;  // ours stay: the cluster has them, or gets them again
    std::vector<Slice> foreign = gpus_[index].foreign;
    for (const world::SliceMemory& slice : memory.slices) {
      if (slice.is_foreign || slice.phase == world::SlicePhase::kWaitingForRoom) continue;
      existing.push_back(slice.slice);
      std::erase(foreign, slice.slice);
    }
    existing.insert(existing.end(), foreign.begin(), foreign.end());
    std::sort(existing.begin(), existing.end());
    memory = world::adopt(memory, existing, true);
  }
}

void ClusterWorld::tell(live::Session& session) const {
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    const device::LocalGpu& gpu = gpus_[index].known;
    session.on_device_note({.gpu = {index},
                            .note = live::DeviceNote::kSeen,
                            .text = fmt::format("{}, {}, model {}", gpu.uuid, gpu.name, gpu.model.name)});
  }
}

void ClusterWorld::serve(live::Session& session, Instant now) {
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    tell_gpu(session, index);
    tell_closed(session, index);
    tell_absent(session, index);
  }
  find_wanted_fleet(session, now);
  note_held(session);
  adopt_standing(session);
  end_intents(session);
  reserve(session);
  if (!pods_) return;
  want(session, now);
  pass_on_news(session, now);
}

void ClusterWorld::tell_gpu(live::Session& session, std::uint32_t index) {
  Gpu& gpu = gpus_[index];
  const bool is_known_lost = session.gpu_state({index}).health == GpuHealth::kLost;
  if (gpu.is_gone) {
    gpu.told_foreign.reset();
    if (!is_known_lost) session.lose_gpu({index}, fmt::format("the cluster does not have {}", gpu.known.uuid));
    return;
  }
  if (is_known_lost) session.return_gpu({index});
  if (session.gpu_state({index}).scheduling == GpuScheduling::kAbsent) open_added(session, index);
  session.hold_foreign({index}, gpu.foreign_tenants);
  if (gpu.told_foreign == gpu.foreign) return;
  session.see_gpu({index}, {.slices = gpu.foreign, .is_of_others = true});
  gpu.told_foreign = gpu.foreign;
}

void ClusterWorld::tell_closed(live::Session& session, std::uint32_t index) {
  const Gpu& gpu = gpus_[index];
  if (!gpu.is_drained) {
    static_cast<void>(session.observe({index}, gpu.closed));  // repeated until it is recorded
    return;
  }
  const GpuState state = session.gpu_state({index});
  const std::string reason = std::string(live::kObserved) + *gpu.closed;
  const bool is_told = state.scheduling_reason == reason && state.scheduling != GpuScheduling::kOpen;
  if (!is_told) static_cast<void>(session.schedule({index}, GpuScheduling::kDraining, reason));
}

void ClusterWorld::adopt_standing(live::Session& session) const {
  for (const auto& [name, standing] : replicas_.unknown()) {
    const auto at = gpu_of_.find(standing.device);
    const auto slice = at == gpu_of_.end() ? std::nullopt : slice_of(at->second, standing.device.device);
    const auto& services = session.catalog().services;
    const auto service = services.find({.tenant = name.namespace_name, .name = standing.service});
    if (slice && service != services.end()) static_cast<void>(session.adopt(*slice, service->second.id));
  }
}

void ClusterWorld::end_intents(live::Session& session) const {
  for (int round = 0; round < kIntentRoundsMax; ++round) {
    const std::vector<live::DeviceIntent> intents = session.take_device_intents();
    if (intents.empty()) return;
    for (const live::DeviceIntent& intent : intents) {
      const bool is_refused = options_.is_dry_run && intent.action.kind == berth::ActionKind::kCreation;
      live::DeviceEnded ended{.intent = intent.number, .outcome = is_refused ? "refused" : live::kDoneOutcome};
      if (is_refused) ended.message = "dry run: nothing is done";
      session.end_device_intent(intent, ended);
    }
  }
}

std::string ClusterWorld::pod_of(const ServiceSpec& service) const {
  const auto found = pods_->find({service.tenant, service.name});
  return found == pods_->end() ? std::string() : found->second;
}

void ClusterWorld::note_held(const live::Session& session) {
  const live::Catalog& catalog = session.catalog();
  held_.tenants.clear();
  held_.services.clear();
  for (const auto& [name, meta] : catalog.tenants) held_.tenants.insert(name);
  for (const auto& [name, entry] : catalog.services) held_.services.insert({name.tenant, name.name});
}

void ClusterWorld::want(live::Session& session, Instant now) {
  const Scenario& scenario = session.scenario();
  std::vector<WantedReplica> wanted;
  programs_.clear();
  for (const world::ProgramSlice& on : session.program_slices()) {
    const auto device = device_of(on.slice);
    if (!on.exists || !device) continue;
    const ServiceSpec& service = std::as_const(scenario.services)[on.service.index];
    std::string name = live::slice_name(scenario, on.slice, on.generation);
    wanted.push_back({.slice = name,
                      .tenant = service.tenant,
                      .service = service.name,
                      .device = *device,
                      .is_mig = !on.slice.profile.is_full(),
                      .pod = pod_of(service),
                      .is_leaving = on.is_leaving});
    programs_.emplace(std::move(name), on);
  }
  replicas_.want(std::move(wanted), now);
}

void ClusterWorld::reserve(const live::Session& session) {
  reserved_.clear();
  for (const StandingSlice& standing : session.snapshot().slices) {
    if (standing.is_foreign) continue;
    if (const auto device = device_of(standing.holding.slice)) reserved_.insert(*device);
  }
}

/// The planner takes another node then, and it takes it at once: before it hears that the slice has failed.
void ClusterWorld::avoid_node(live::Session& session, std::uint32_t index, const std::string& slice, Instant now) {
  if (!gpus_[index].found) return;
  const std::string& node = gpus_[index].found->node;
  const std::string why = fmt::format("the scheduler took the claim of slice {} on node {} back less than {} s ago",
                                      slice, node, kAvoidedFor.count() / kMicrosPerSecond);
  avoided_[node] = {.until = now + kAvoidedFor, .why = why};
  for (std::uint32_t other = 0; other < gpus_.size(); ++other) {
    Gpu& gpu = gpus_[other];
    if (gpu.closed || gpu.is_gone || gpu.found->node != node) continue;
    gpu.closed = why;
    tell_closed(session, other);
  }
}

void ClusterWorld::pass_on_news(live::Session& session, Instant now) {
  for (const ReplicaNews& news : replicas_.take_news()) {
    const auto found = programs_.find(news.slice);
    if (found == programs_.end()) continue;
    const world::ProgramSlice& on = found->second;
    switch (news.kind) {
      case ReplicaNewsKind::kReady:
        if (!on.is_ready && !on.is_leaving)
          session.program_ready(on, news.took > Micros() ? std::optional(news.took) : std::nullopt);
        break;
      case ReplicaNewsKind::kGone:
        if (on.is_leaving) session.program_gone(on);
        break;
      case ReplicaNewsKind::kTakenBack:
        avoid_node(session, on.slice.gpu.index, news.slice, now);
        session.program_failed(on, news.text);
        break;
      case ReplicaNewsKind::kFailed:
        session.program_failed(on, news.text);
        break;
    }
  }
}

// ---- for clients

ClusterWorld::GpuView ClusterWorld::view(GpuId gpu) const {
  const Gpu& known = gpus_[gpu.index];
  return {.key = known.known.uuid,
          .node = known.is_gone ? std::string() : known.found->node,
          .closed = known.closed,
          .is_drained = known.is_drained};
}

std::optional<std::string> ClusterWorld::device_name(const Slice& slice) const {
  const auto device = device_of(slice);
  return device ? std::optional(device->text()) : std::nullopt;
}

}  // namespace berth::kube
