/// Layouts for unknown load: the SMs of the services as equal as possible.
///
/// Model: each GPU has one of its partitions, each piece at most one owner, which it can serve; x_s is the sum
/// of the SMs of service s; every service owns a piece. Objective: minimise max x - min x, then maximise the total SMs,
/// then take the first in order of enumeration.
#pragma once

#include <optional>

#include "engine/rivals/detail/fleet_view.h"

namespace berth::partition::detail {

/// The exact optimum on one GPU, by enumeration of shapes x owners, equal pieces being interchangeable. Several GPUs:
/// coordinate descent, one GPU at a time (all its shapes; its owners exactly if they are few, otherwise the largest
/// piece to the smallest sum), first on the squared deviation of the sums, then on the objective, from two starts:
/// largest first, and equal pieces assigned in rounds, whole GPUs first. Up to 8 GPUs the plan is then perturbed, GPU
/// by GPU and shape by shape, and descends again. Nothing if no plan gives every service a piece (see `no_room`).
/// O(passes x GPUs x shapes x pieces x services).
[[nodiscard]] std::optional<FleetPlan> even_plan(const FleetView& fleet);

/// The largest-first start alone: every GPU is partitioned as little as possible while every service has a piece, and
/// the largest piece goes to the smallest sum. Nothing as above.
[[nodiscard]] std::optional<FleetPlan> largest_first_plan(const FleetView& fleet);

}  // namespace berth::partition::detail
