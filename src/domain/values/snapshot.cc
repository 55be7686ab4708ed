#include "domain/values/snapshot.h"

#include <algorithm>

namespace berth {

SliceRange Snapshot::slices_on(GpuId gpu) const {
  const auto found =
      std::ranges::equal_range(slices, gpu, {}, [](const StandingSlice& each) { return each.holding.slice.gpu; });
  return {found.begin(), found.end()};
}

SliceRange Snapshot::slices_at(const Slice& place) const {
  const auto found =
      std::ranges::equal_range(slices, place, {}, [](const StandingSlice& each) { return each.holding.slice; });
  return {found.begin(), found.end()};
}

bool Snapshot::is_orphan(const StandingSlice& slice) const {
  return std::ranges::any_of(slice.holding.services,
                             [this](ServiceId service) { return services[service.index].is_absent; });
}

std::vector<GpuId> Snapshot::gpus_with_foreign_slices() const {
  std::vector<GpuId> with;
  for (const StandingSlice& standing : slices) {
    const GpuId gpu = standing.holding.slice.gpu;
    if (standing.is_foreign && (with.empty() || with.back() != gpu)) with.push_back(gpu);
  }
  return with;
}

}  // namespace berth
