/// The order of the steps between two plans: one slice at a time, no demand below its floor, nothing on a place that is
/// taken.
///
/// A demand's floor is min(what it carries before the first step, its need). Always done first is what cannot hurt: a
/// slice that nobody wants any more goes, a new one comes where its place is free. Then the slices that block a new one
/// go where their demands can do without all of them, and GPUs that are released get empty, as long as what is spare is
/// not needed for that. Where nothing moves, temporary slices come into free room, or on spare GPUs, for the new slice
/// that needs the fewest of them. Every round makes a step; O(steps x slices + deadlocks x sites x places).
#pragma once

#include <vector>

#include "capacity/detail/transition_view.h"

namespace berth::capacity::moving {

struct OrderedStep {
  StepKind kind = StepKind::kCreate;
  int site = 0;  ///< beyond the view's sites: a spare GPU
  int place = 0;
  int demand = kNone;
  int standing = kNone;  ///< of kDestroy and kRetune: the slice that stood
  bool is_temporary = false;
};

struct Order {
  std::vector<OrderedStep> steps;
  std::vector<int> spare_offers;  ///< by spare GPU
};

/// What the plan makes of the slices that stand: the rate of each one that is retuned, 0 for others.
[[nodiscard]] Order order_of(const TransitionView& view, const SitePlan& plan, const std::vector<Rate>& retuned);

}  // namespace berth::capacity::moving
