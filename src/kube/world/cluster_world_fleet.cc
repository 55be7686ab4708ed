/// ClusterWorld: GPUs that come and go.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "domain/values/snapshot.h"
#include "kube/world/cluster_world.h"
#include "live/session/entry.h"
#include "live/session/session.h"

namespace berth::kube {
namespace {

bool has_same_profiles(const device::LocalGpu& one, const device::LocalGpu& other) {
  return one.model.name == other.model.name && device::have_same_placements(one.model, other.model);
}

}  // namespace

void ClusterWorld::see_claims_of_gone(const Placing& placing) {
  const auto is_of = [](const Gpu& gpu, const DeviceName& device) {
    if (gpu.found && gpu.found->pool != device.pool) return false;
    if (gpu.found) return gpu.found->places.contains(device.device) || gpu.found->whole == device.device;
    return gpu.known.uuid.starts_with(device.pool.text() + "/");  // not seen since this process began: any of its pool
  };
  const bool is_any_gone = std::ranges::any_of(gpus_, &Gpu::is_gone);
  for (Gpu& gpu : gpus_) gpu.is_claimed = false;
  if (!is_any_gone) return;
  for (const auto& [name, claim] : placing.claims()) {
    for (const AllocatedDevice& each : claim.allocated) {
      for (Gpu& gpu : gpus_) {
        if (gpu.is_gone && is_of(gpu, each.device)) gpu.is_claimed = true;
      }
    }
  }
}

bool ClusterWorld::is_referred_to(const live::Session& session, std::uint32_t index) const {
  if (gpus_[index].is_claimed) return true;
  const auto standing = session.snapshot().slices_on({index});
  if (standing.begin() != standing.end()) return true;
  const auto& services = session.scenario().services;
  return std::ranges::any_of(services, [&](const ServiceSpec& service) {
    return !service.is_absent &&
           std::ranges::any_of(service.pins, [&](const Pin& pin) { return pin.slice.gpu.index == index; });
  });
}

void ClusterWorld::tell_absent(live::Session& session, std::uint32_t index) {
  if (!gpus_[index].is_gone) return;
  const GpuState state = session.gpu_state({index});
  if (state.health != GpuHealth::kLost || state.scheduling == GpuScheduling::kAbsent) return;
  if (is_referred_to(session, index)) return;
  static_cast<void>(session.schedule({index}, GpuScheduling::kAbsent,
                                     fmt::format("the cluster does not have {}", gpus_[index].known.uuid)));
}

void ClusterWorld::open_added(live::Session& session, std::uint32_t index) {
  const Gpu& gpu = gpus_[index];
  const std::string text =
      fmt::format("{}, {}, model {}, node {}", gpu.known.uuid, gpu.known.name, gpu.known.model.name, gpu.found->node);
  if (!session.schedule({index}, GpuScheduling::kOpen, "it is in the cluster")) return;
  session.on_device_note({.gpu = {index}, .note = live::DeviceNote::kAdded, .text = text});
}

void ClusterWorld::find_wanted_fleet(const live::Session& session, Instant now) {
  wanted_fleet_.reset();
  excess_.clear();
  if (new_gpus_.empty()) return;
  const auto since = [](const auto& each) { return each.second.since; };
  const Instant oldest = since(*std::ranges::min_element(new_gpus_, {}, since));
  const Instant newest = since(*std::ranges::max_element(new_gpus_, {}, since));
  if (now - newest < kAddedAfter && now - oldest < kAddedWithin) return;
  std::vector<device::LocalGpu> fleet;
  std::vector<bool> is_free;
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    fleet.push_back(gpus_[index].known);
    is_free.push_back(gpus_[index].is_gone && session.gpu_state({index}).scheduling == GpuScheduling::kAbsent);
  }
  bool is_any_added = false;
  for (const auto& [key, gpu] : new_gpus_) {
    const device::LocalGpu added = fleet_of({gpu.found}).front();
    // Records of a number name profiles by their place in its model, so the next GPU has to have the same.
    std::size_t number = 0;
    while (number < is_free.size() && !(is_free[number] && has_same_profiles(fleet[number], added))) ++number;
    if (number < is_free.size()) {
      is_free[number] = false;
      fleet[number] = added;
    } else if (fleet.size() < options_.gpus_max) {
      fleet.push_back(added);
    } else {
      excess_.push_back(key);
      continue;
    }
    is_any_added = true;
  }
  if (is_any_added) wanted_fleet_ = std::move(fleet);
}

}  // namespace berth::kube
