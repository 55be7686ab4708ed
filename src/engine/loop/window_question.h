/// One complete question of the policy `berth`: the existing slices, the expected load, and the start of the search.
/// Solving it is a pure function, so it can run in another thread.
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
  planner::Moment moment;  ///< without the services' loads, which `expect` predicts
  Stretch stretch;         ///< the seconds of the moment's window and tail
  Expect expect;
  bool is_first_layout = false;
  int turn = 0;  ///< number of plans before this one
  /// The previous plan, which took effect at `previous_begins`: the search begins with its remaining part.
  std::shared_ptr<const planner::Schedule> previous;
  Instant previous_begins;
  std::optional<FoundFeasibility> feasibility;  ///< of an earlier question; absent: to be searched for
};

/// Completes the solution, whose plan has the actions of other stages. `snapshot` is the one for which the question was
/// posed; the seconds of its services are not read.
void solve(const WindowQuestion& question, const Snapshot& snapshot, Solution& solution);

/// The schedule of a plan's changes ahead, for a fleet of the frame. Slices that are not on a site of the frame are
/// left out.
[[nodiscard]] planner::Schedule schedule_of(const planner::Frame& frame, const std::vector<ChangeAhead>& ahead);

}  // namespace berth
