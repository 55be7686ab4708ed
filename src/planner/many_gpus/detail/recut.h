/// Layouts next to the existing one: a slice split in two, or two slices merged into one.
#pragma once

#include <vector>

#include "planner/window/problem.h"

namespace berth::planner {

/// Every configuration that differs from the existing one by one slice split into two of its owner's, or by two slices
/// merged into one of either owner's; all new pieces serve, with the use that gains most. Pinned slices stay;
/// configurations with slices that their owner could not use are left out. O(pieces^2 x sites + pieces x sites^2).
[[nodiscard]] std::vector<Configuration> recuts_of(const ModelTerms& model, const GpuTerms& gpu);

}  // namespace berth::planner
