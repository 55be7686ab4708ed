/// The constraints that a scenario sets, scenarios with only some of them, and conflicts that need no search.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/values/scenario.h"
#include "engine/loop/conflict.h"

namespace berth {

/// The constraints that a scenario sets, in their order: services in the file's order, each with its floor, pins,
/// isolation (`gpu` only: the weaker ones restrict no planner that gives each slice one holder), trust domain and
/// changes per hour, then the frozen windows.
[[nodiscard]] std::vector<ConstraintId> constraints_of(const Scenario& scenario);

/// The scenario with these constraints alone; the others are treated as if they had not been written (isolation `gpu`
/// becomes `mig`). A trust domain holds for all of its services as soon as one of them keeps its own, so what is
/// feasible with some constraints is feasible with fewer.
[[nodiscard]] Scenario with_only(const Scenario& scenario, std::span<const ConstraintId> kept);

/// Pins that no plan can keep, alone or together with another constraint.
struct StaticConflict {
  std::vector<ConstraintId> constraints;  ///< in their order; a smallest set that cannot be met
  GpuId gpu;                              ///< of the pin; the fleet may not have it
  std::string wanted;                     ///< "a's GPU alone (a.isolation)"
  std::string found;

  /// "GPU 4: wanted .., found ..".
  [[nodiscard]] std::string text() const;
  /// As the engine's answer to the first question.
  [[nodiscard]] Conflict as_conflict() const { return {.constraints = constraints, .why = text()}; }
};

/// A smallest conflict of pins with other constraints, found without a solver: a pin on a GPU that the fleet does not
/// have; a slice pinned to a service that can neither serve (at any measured point within its target) nor retrain
/// there; several slices pinned to a service that can only retrain on them, as it retrains on one at a time; pins on
/// one GPU of two services that must not share it. Conflicts of one constraint come before those of three; nothing if
/// there is none. Pins that overlap are refused when the scenario is read.
[[nodiscard]] std::optional<StaticConflict> find_static_conflict(const Scenario& scenario);

}  // namespace berth
