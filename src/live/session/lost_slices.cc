#include "live/session/lost_slices.h"

#include <algorithm>
#include <utility>

namespace berth::live {
namespace {

bool is_lost(const Snapshot& snapshot, GpuId gpu) { return snapshot.gpu_state(gpu).health == GpuHealth::kLost; }

bool is_held_by(const LostSlice& lost, ServiceId service) {
  const auto& holders = lost.slice.holding.services;
  return std::ranges::find(holders, service) != holders.end();
}

}  // namespace

void LostSlices::add(LostSlice lost) {
  const GpuId gpu = lost.slice.holding.slice.gpu;
  for (const ServiceId service : lost.slice.holding.services) gpus_of_[service].insert(gpu);
  slices_[gpu].push_back(std::move(lost));
}

void LostSlices::forget(GpuId gpu) {
  const auto lost = slices_.extract(gpu);
  if (lost.empty()) return;
  for (const LostSlice& each : lost.mapped()) {
    for (const ServiceId service : each.slice.holding.services) {
      const auto known = gpus_of_.find(service);
      if (known == gpus_of_.end()) continue;
      known->second.erase(gpu);
      if (known->second.empty()) gpus_of_.erase(known);
    }
  }
}

void LostSlices::forget(ServiceId service) {
  const auto gpus = gpus_of_.extract(service);
  if (gpus.empty()) return;
  for (const GpuId gpu : gpus.mapped()) {
    std::erase_if(slices_[gpu], [&](const LostSlice& lost) { return is_held_by(lost, service); });
  }
}

std::vector<const LostSlice*> LostSlices::all(const Snapshot& snapshot) const {
  std::vector<const LostSlice*> slices;
  for (const auto& [gpu, lost] : slices_) {
    if (!is_lost(snapshot, gpu)) continue;
    for (const LostSlice& each : lost) slices.push_back(&each);
  }
  return slices;
}

std::vector<const LostSlice*> LostSlices::on(const Snapshot& snapshot, GpuId gpu) const {
  std::vector<const LostSlice*> slices;
  const auto known = slices_.find(gpu);
  if (known == slices_.end() || !is_lost(snapshot, gpu)) return slices;
  for (const LostSlice& each : known->second) slices.push_back(&each);
  return slices;
}

std::vector<const LostSlice*> LostSlices::of(const Snapshot& snapshot, ServiceId service) const {
  std::vector<const LostSlice*> slices;
  const auto gpus = gpus_of_.find(service);
  if (gpus == gpus_of_.end()) return slices;
  for (const GpuId gpu : gpus->second) {
    for (const LostSlice* each : on(snapshot, gpu)) {
      if (is_held_by(*each, service)) slices.push_back(each);
    }
  }
  return slices;
}

}  // namespace berth::live
