/// Layouts next to the one that stands: a slice cut in two, or two made one.
#pragma once

#include <vector>

#include "window/problem.h"

namespace berth::planner {

/// Every configuration that differs from what stands by one slice cut into two of its owner's, or by two slices made
/// one of either owner's; all that come serve, in the use in which they give most. Pinned slices stay; slices that
/// their owner could not use are left out. O(pieces^2 x sites + pieces x sites^2).
[[nodiscard]] std::vector<Configuration> recuts_of(const ModelTerms& model, const GpuTerms& gpu);

}  // namespace berth::planner
