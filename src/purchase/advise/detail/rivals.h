/// The common rules: first fit decreasing with box sizes chosen at the end, and the cheapest instance that holds each
/// pod.
#pragma once

#include "purchase/advise/detail/plan.h"
#include "purchase/advise/detail/problem.h"

namespace berth::purchase::advise {

// Both take the pods by num_gpu x gpu_milli, CPU and memory, all descending, then by row. Require: each pod fits some
// box alone. O(pods x nodes x choices) at worst.

/// Each pod goes to the first node for which some box still holds all its pods and this one; in the end each node is
/// the cheapest such box.
[[nodiscard]] Plan first_fit_decreasing(const Problem& problem);

/// Each pod goes to the first node that holds it, else to a new one of the cheapest box (of equal ones the first) that
/// holds it alone.
[[nodiscard]] Plan cheapest_fit(const Problem& problem);

}  // namespace berth::purchase::advise
