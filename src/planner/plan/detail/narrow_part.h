/// One GPU of a large fleet as a small problem: the other GPUs are outside, and only the services to which this GPU is
/// likely to matter may use it.
#pragma once

#include <vector>

#include "planner/many_gpus/state.h"
#include "planner/window/problem.h"

namespace berth::planner {

struct NarrowPart {
  Problem problem;                     ///< one GPU of one model; services are renumbered
  std::vector<ServiceIndex> services;  ///< [number in `problem`]: number in the fleet, ascending
  bool has_all_services = true;

  /// Converts between the numbers of both problems. Requires: the service is one of the part's, or kNoService.
  [[nodiscard]] Piece to_part(Piece piece) const;
  [[nodiscard]] std::vector<Change> to_fleet(std::vector<Change> changes) const;
};

/// The services that may use the GPU: those that have pieces or pins on it or in its path, and of the others the
/// `others_max` with the largest gain per SM of one more slice of the GPU, from the slot in which it can be ready to
/// the end. Ascending. O(services x kinds x slots x samples). Requires: the GPU is taken out of `others`.
[[nodiscard]] std::vector<ServiceIndex> likely_services(const fleet::FleetState& others, GpuIndex gpu,
                                                        std::size_t others_max);

/// The part with these services (ascending; they include all with pieces or pins on the GPU). Its schedules correspond
/// to the fleet's as those of `part_of` (part.h) do. O(services x slots). Requires: the GPU is taken out of `others`.
[[nodiscard]] NarrowPart narrow_part(const fleet::FleetState& others, GpuIndex gpu, std::vector<ServiceIndex> services);

}  // namespace berth::planner
