/// The common stages: each turns a decision of `partition` into actions of the plan.
#pragma once

#include <functional>

#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "engine/loop/stage.h"
#include "engine/rivals/layout.h"

namespace berth {

/// Decides the first layout from what is known before second 0, then never changes it.
[[nodiscard]] Stage first_layout_stage(std::string policy,
                                       std::function<partition::LayoutOrInfeasible(const Snapshot&)> decide);

/// Lends slices to retrainings that are due and takes them back when they are done, by the rule of
/// engine/rivals/retraining_rule.h. Waits while a window is frozen. `scenario` must outlive the stage.
[[nodiscard]] Stage retraining_stage(const Scenario& scenario);

/// Requests of each service in each second of history that the snapshot holds, oldest first (seconds before 0 only).
[[nodiscard]] std::vector<std::vector<std::uint32_t>> history_counts(const Snapshot& snapshot);

}  // namespace berth
