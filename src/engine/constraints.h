/// The independent check that a plan keeps what operators forbid. docs/constraints.md states the rules in words.
#pragma once

#include <optional>
#include <string>

#include "base/instant.h"
#include "domain/plan.h"
#include "domain/scenario.h"
#include "domain/snapshot.h"

namespace berth {

/// Which constraint of the scenario a plan breaks, where, and how, or nothing. It shares no code with those who make
/// plans. Checked, in this order:
/// - no action destroys a pinned slice or gives it to others;
/// - each GPU that the plan acts on (in the first layout every GPU) is right afterwards: pins stand and are their
///   owner's alone, in whatever role; a service of isolation `mig` shares no slice, one of `gpu` no GPU; a GPU
///   with services of a trust domain holds no others. Slices that nobody holds and slices on their way out do not
///   count. What stands wrong on other GPUs is not the plan's fault;
/// - operating points that the plan names are measured ones;
/// - changes_per_hour, over the hour that ends at `acts_at`, for the services that the plan changes (whose a change is:
///   state/changes.h); the first layout is free;
/// - each floor: the plan states what is needed and planned; planned is what the slices give after it. It may be less
///   than needed (by more than 1e-9 of it) only where
///   - `Plan::unmet_floors` says why: a conflict of constraints of the scenario, at least one of them a floor that this
///     plan leaves unmet (else it meets what it says cannot be met); or changes under way, which the snapshot must
///     show, with an end that their costs allow; or that it was not decided;
///   - and the checker, which looks for itself, finds no other plan that meets all floors (engine/counter_plan.h); a
///     first layout that says "not decided" is let through without that, as nothing could stand in its place.
///   How much of which floor is left unmet is not judged where not all can be met.
///
/// A slice gives 1000 x processes x batch / latency_ms requests a second, divided by the largest factor of
/// `interference`, at the point that was asked for there, else at the default one; several holders get equal parts.
/// A plan without actions has no breach. Requires: find_objection has nothing to say (frozen windows are there).
[[nodiscard]] std::optional<std::string> find_breach(const Scenario& scenario, const Snapshot& snapshot,
                                                     const Plan& plan, Instant acts_at);

/// The largest factor of the scenario's interference, at least 1: what checkers divide a slice's rate by.
[[nodiscard]] double worst_interference(const Scenario& scenario);

}  // namespace berth
