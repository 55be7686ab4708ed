/// From covers to a plan: GPUs get numbers, slices get places, places get demands.
#pragma once

#include <optional>
#include <vector>

#include "capacity/detail/plan_search.h"
#include "domain/packing.h"

namespace berth::capacity::detail {

/// The plan of an instance. GPUs come in the order of offers, then pools; slices of a kind are dealt to demands in
/// their order. A place is kept for the kind that stays free. Requires: `search` found the plan.
[[nodiscard]] Packing assemble(const PackingProblem& problem, const Instance& instance, PlanSearch& search,
                               const FoundPlan& plan, Budget& budget);

/// The largest plain slices that could still be cut on each GPU, the largest first; by GPU, then start.
[[nodiscard]] std::vector<Slice> empty_places(const PackingProblem& problem, const Packing& packing);

/// Whether one slice counts as larger than another: more SMs, then more units.
[[nodiscard]] bool is_larger_slice(const GpuModel& a_model, ProfileId a, const GpuModel& b_model, ProfileId b);

/// Plans of different demands put together: the GPUs of `more` are numbered after those of `packing`.
void append_packing(Packing& packing, const Packing& more);

}  // namespace berth::capacity::detail
