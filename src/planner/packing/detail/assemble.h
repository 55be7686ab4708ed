/// From covers to a plan: assigns numbers to GPUs, places to slices, demands to places.
#pragma once

#include <optional>
#include <vector>

#include "domain/values/packing.h"
#include "planner/packing/detail/plan_search.h"

namespace berth::packing::detail {

/// The plan of an instance. GPUs are in the order of offers, then pools; slices of a kind are assigned to demands in
/// their order. A place is kept for the kind that stays free. Requires: the plan was found by `search`.
[[nodiscard]] Packing assemble(const PackingProblem& problem, const Instance& instance, PlanSearch& search,
                               const FoundPlan& plan, Budget& budget);

/// Plans of different demands combined: the GPUs of `more` are numbered after those of `packing`.
void append_packing(Packing& packing, const Packing& more);

}  // namespace berth::packing::detail
