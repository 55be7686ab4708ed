/// The value of a service while its slices do not change.
#pragma once

#include "planner/one_gpu/detail/gpu_case.h"
#include "planner/one_gpu/detail/model_state.h"

namespace berth::planner {

/// A service that serves with a bundle and makes progress.
struct ServiceRun {
  ServiceIndex service = ServiceIndex(0);
  BundleIndex bundle = BundleIndex(0);
  double progress_rate = 0;  ///< per slot, of pieces here
};

/// The value of a service in the slots [from, to); `state`, that at the beginning of `from`, becomes that at the
/// beginning of `to`. O(1) if nothing becomes due, done or fresh, else O(slots). Requires: from <= to.
[[nodiscard]] double advance(const GpuCase& gpu_case, const ServiceRun& run, SlotIndex from, SlotIndex to,
                             ModelState& state);

}  // namespace berth::planner
