/// The best owners for the pieces of one partition, if the figures of services add up.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/rivals/detail/fleet_view.h"

namespace berth::partition::detail {

/// The worth of a plan or a part of it. Better: fewer services without a piece (if each must have one), then the larger
/// value, then fewer owned pieces.
struct Worth {
  int uncovered = 0;
  double value = 0;
  int owned = 0;
  friend bool operator==(const Worth&, const Worth&) = default;
};
[[nodiscard]] bool is_better(const Worth& a, const Worth& b);

/// Owners of a partition's pieces and their worth.
struct Assignment {
  Worth worth;
  std::vector<int> owners;  ///< by piece
};

/// worth[service][mask]: the worth of the service with the pieces of `mask` (bit i: piece i), for masks that it can
/// serve; others are marked by kImpossible in `uncovered`.
using WorthTable = std::vector<std::vector<Worth>>;
inline constexpr int kImpossible = 1 << 20;

/// The exact optimum over all ways to give each piece to one service or leave it unowned; ties go to the first in order
/// of enumeration: services in order, each taking the smallest mask. Dynamic program over (service, pieces left),
/// O(services x 3^pieces). Requires: mask 0 is possible for every service, pieces <= 12.
[[nodiscard]] Assignment best_assignment(const WorthTable& worth, std::size_t piece_count);

/// The number of assignments that best_assignment compares: the product over the pieces of one plus the number of
/// services that it can serve. Saturates.
[[nodiscard]] std::int64_t assignment_count(const ModelView& view, const Partition& partition, int service_count);

/// All plans of one GPU that differ in the ordered list of kinds of some service, and of equal ones the first in order
/// of enumeration. The order between different services' pieces is not distinguished (it affects only the order of
/// events within one microsecond). The list ends at `count_max` + 1 plans, which means that there are more than
/// `count_max`.
[[nodiscard]] std::vector<GpuPlan> distinct_plans(const ModelView& view, int service_count, std::size_t count_max);

}  // namespace berth::partition::detail
