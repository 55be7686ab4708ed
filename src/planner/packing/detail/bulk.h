/// Large demands: most of their slices are taken as in the relaxation's mix, only the rest is searched.
#pragma once

#include <optional>
#include <vector>

#include "planner/packing/detail/beam.h"
#include "planner/packing/detail/instance.h"
#include "planner/packing/detail/relaxation.h"

namespace berth::packing::detail {

/// A problem in two parts: settled slices, and the rest of every demand.
struct Bulk {
  std::vector<Counts> by_demand;
  Counts counts;  ///< of all demands together
  Instance rest;  ///< the same demands with smaller rates
};

/// The part of a demand that these slices carry, in the unit of its rate.
[[nodiscard]] Int128 carried(const InstanceDemand& demand, const Counts& counts);

/// Removes slices that the demand does not need, the fastest first.
void drop_surplus(const InstanceDemand& demand, Counts& counts);

/// Settles all but a few slices of each kind and demand. Nothing if no demand is large enough for that.
[[nodiscard]] std::optional<Bulk> take_bulk(const Instance& instance, const Relaxation& relaxation);

/// Covers of the whole problem from covers of the rest, without surplus slices.
[[nodiscard]] CoverChoice with_bulk(const Instance& instance, const Bulk& bulk, const CoverChoice& rest);

}  // namespace berth::packing::detail
