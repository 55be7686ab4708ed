/// The independent check that a plan keeps the operators' constraints. docs/reference/constraints.md states the rules
/// in words.
#pragma once

#include <optional>
#include <string>

#include "base/core/instant.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"

namespace berth {

/// Which constraint of the scenario a plan breaks, where, and how, or nothing. It shares no code with the planners.
/// Checked, in this order:
/// - no action destroys a pinned slice or gives it to another service;
/// - each GPU that the plan changes (in the first layout every GPU) keeps the constraints afterwards: pinned slices
///   exist and are held by their owner alone, in either role; a service of isolation `mig` shares no slice, one of
///   `gpu` no GPU; a GPU with services of a trust domain holds no others. Unowned slices and slices that are leaving do
///   not count. Violations on other GPUs are not the plan's fault;
/// - numbers of slices (`replicas`, warm pools): the plan leaves a service with too few only where it takes none away,
///   with too many only where it adds none;
/// - operating points that the plan names are measured ones;
/// - changes_per_hour, over the hour that ends at `acts_at`, for the services that the plan changes
///   (engine/state/changes.h says against which budget a change counts); the first layout is free;
/// - each floor: the plan states the rates needed and planned; planned is the rate of the slices after the plan. It may
///   be less than needed (by more than 1e-9 of it) only where
///   - `Plan::unmet_floors` says why: a conflict of constraints of the scenario, at least one of them a floor that this
///     plan leaves unmet (otherwise the plan meets floors that it states cannot be met); or changes under way, which
///     the snapshot must show, with an end that their costs allow; or that it was not decided;
///   - and the checker's own search finds no other plan that meets all floors (engine/loop/counter_plan.h); a first
///     layout that says "not decided" passes without that search, as the fleet would otherwise stay empty.
///   Where not all floors can be met, it is not judged which of them are unmet and by how much.
///
/// A slice serves 1000 x processes x batch / latency_ms requests per second, divided by the largest factor of
/// `interference`, at the point chosen for it, else at the default one; several holders get equal parts. A plan without
/// actions has no breach. Requires: find_objection finds nothing (it checks frozen windows, too).
[[nodiscard]] std::optional<std::string> find_breach(const Scenario& scenario, const Snapshot& snapshot,
                                                     const Plan& plan, Instant acts_at);

/// The largest factor of the scenario's interference, at least 1: checkers divide a slice's rate by it.
[[nodiscard]] double worst_interference(const Scenario& scenario);

}  // namespace berth
