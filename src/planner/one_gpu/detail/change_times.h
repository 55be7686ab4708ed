/// When the pieces of a change of one GPU are ready, and what the change costs, by the rules of
/// planner/window/problem.h.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/gpu_case.h"

namespace berth::planner {

/// The piece on a site; nullptr if the site is empty.
[[nodiscard]] const Piece* standing_on(const Configuration& pieces, SiteIndex site);

struct ChangeTimes {
  std::vector<SlotIndex> ready;  ///< [piece]
  SlotIndex end = SlotIndex(0);  ///< when all are ready, or the end of the window
};

/// The times of a change that begins in slot t. O(pieces squared).
[[nodiscard]] ChangeTimes times_of_change(const GpuCase& gpu_case, const Configuration& from, const Configuration& to,
                                          SlotIndex t);

/// The price of all slices that the change creates or destroys.
[[nodiscard]] double price_of_change(const GpuCase& gpu_case, const Configuration& from, const Configuration& to);

}  // namespace berth::planner
