/// Makes pods of similar size equal, to reduce the number of classes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "domain/lists/pod_list.h"
#include "purchase/advise/detail/problem.h"

namespace berth::purchase::advise {

enum class Rounding { kDown, kUp };

/// The pods with CPU, memory and shares replaced by the least (kDown) or the largest (kUp) of similar ones. Pods that
/// accept the same GPUs and want equally many, all shared or none, are a group; the group with the largest spread,
/// weighted by its pods, is split in halves until there are `groups_max` groups. If the largest values of a group fit
/// no box together, its pods stay as they are. The order is kept. O(groups x pods log pods).
[[nodiscard]] std::vector<Pod> round_pods(std::span<const Pod> pods, const Problem& problem, Rounding rounding,
                                          std::size_t groups_max);

}  // namespace berth::purchase::advise
