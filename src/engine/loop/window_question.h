/// One question of the policy `berth`, complete: what stands, what is expected, and with what the search begins. To
/// solve it is a pure function, so that it can be done in another thread.
#pragma once

#include <memory>
#include <optional>

#include "base/core/instant.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "domain/values/solution.h"
#include "engine/loop/outlook.h"
#include "engine/loop/planner_options.h"
#include "planner/window/frame.h"
#include "planner/window/window.h"

namespace berth {

struct WindowQuestion {
  std::shared_ptr<const Scenario> scenario;  ///< as it was when the question was posed
  std::shared_ptr<const planner::Frame> frame;
  PlannerOptions options;
  planner::Moment moment;  ///< without what is expected of the services, which `expect` predicts
  Stretch stretch;         ///< the seconds of the moment's window and tail
  Expect expect;
  bool is_first_layout = false;
  int turn = 0;  ///< number of plans before this one
  /// The previous plan, taken effect at `previous_begins`: the search begins with what is left of it.
  std::shared_ptr<const planner::Schedule> previous;
  Instant previous_begins;
  std::optional<FoundFeasibility> feasibility;  ///< of an earlier question; absent: to be searched for
};

/// Completes the solution, whose plan has the actions of other stages. `snapshot` is the one for which the question was
/// posed; the seconds of its services are not read.
void solve(const WindowQuestion& question, const Snapshot& snapshot, Solution& solution);

/// The schedule of a plan's changes ahead, for a fleet of the frame. What stands on no site of the frame is left out.
[[nodiscard]] planner::Schedule schedule_of(const planner::Frame& frame, const std::vector<ChangeAhead>& ahead);

}  // namespace berth
