#include "engine/loop/fleet_after.h"

#include <set>
#include <variant>

#include "base/core/overloaded.h"

namespace berth {

FleetAfter::FleetAfter(const Snapshot& snapshot) {
  for (const StandingSlice& standing : snapshot.staying()) slices_[standing.holding.slice] = standing.allocation();
}

FleetAfter::FleetAfter(const Snapshot& snapshot, const Plan& plan) {
  std::set<GpuId> gpus;
  for (const Action& action : plan.actions) gpus.insert(slice_of(action.what).gpu);
  for (const GpuId gpu : gpus) {
    for (const StandingSlice& standing : snapshot.slices_on(gpu)) {
      if (!standing.is_leaving) slices_[standing.holding.slice] = standing.allocation();
    }
  }
}

bool FleetAfter::apply(const Action& action) {
  return std::visit(
      Overloaded{
          [&](const CreateSlice& create) {
            return slices_
                .insert_or_assign(create.slice, Allocation{.holding = {.slice = create.slice, .services = {}}})
                .second;
          },
          [&](const DestroySlice& destroy) { return slices_.erase(destroy.slice) > 0; },
          [&](const AssignSlice& assign) { return !slices_.insert_or_assign(assign.holding.slice, assign).second; },
      },
      action.what);
}

std::vector<Slice> FleetAfter::slices_on(GpuId gpu) const {
  std::vector<Slice> slices;
  for (auto it = slices_.lower_bound({.gpu = gpu, .start = 0, .profile = {}});
       it != slices_.end() && it->first.gpu == gpu; ++it) {
    slices.push_back(it->first);
  }
  return slices;
}

}  // namespace berth
