/// What the table of slices reports to the engine, as events in order of time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/event.h"
#include "domain/values/slice.h"
#include "world/slices/slice_places.h"
#include "world/slices/tracked_slice.h"

namespace berth::world {

class SliceReports {
 public:
  void add_ready(const TrackedSlice& slice, Instant now);
  void add_gone(const TrackedSlice& slice, Instant now);
  /// Also requests a report of what exists on its GPU, as reports of actions are not to be trusted there.
  void add_failed(const TrackedSlice& slice, ActionKind kind, std::string why, Instant now);
  void add_failed(ActionFailed failed, Instant now) { events_.push_back({.at = now, .what = std::move(failed)}); }

  void add_adopted(const SliceAdopted& adopted, Instant now) { events_.push_back({.at = now, .what = adopted}); }

  /// Requests a report of what exists on the GPU, at this instant.
  void want_observed(GpuId gpu) { to_observe_.push_back(gpu); }
  /// Reports what exists on all requested GPUs. `known_numbers` by GpuId. O(their slices).
  void add_observed(const SlicePlaces& places, const std::vector<std::uint64_t>& known_numbers, Instant now);

  [[nodiscard]] std::vector<Event> take() { return std::exchange(events_, {}); }

 private:
  std::vector<GpuId> to_observe_;
  std::vector<Event> events_;
};

}  // namespace berth::world
