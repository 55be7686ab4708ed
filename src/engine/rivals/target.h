/// The target of a policy that repartitions during the run, and the inputs of its decision.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "domain/values/plan.h"
#include "domain/values/slice.h"
#include "domain/values/snapshot.h"
#include "engine/rivals/layout.h"

namespace berth::partition {

/// A slice that should exist, its holder, and how the holder should run on it.
using Wanted = Allocation;

/// The wanted layout of the whole fleet: slices that are not in it should be destroyed.
struct Target {
  std::vector<Wanted> holdings;  ///< sorted by slice, no slice twice; legal on each GPU
  Reason reason;                 ///< of each action towards the target
  std::optional<double> objective = std::nullopt;
  std::optional<double> bound = std::nullopt;
};

/// The inputs of a decision.
struct Sight {
  const Snapshot& snapshot;
  /// By service: the share of the current retraining that is done, in [0, 1]; 0 if none is due.
  std::span<const double> retraining_progress;
};

/// A decision; std::monostate: the existing slices (and those being created) stay.
using Decision = std::variant<std::monostate, Target, Infeasible>;

}  // namespace berth::partition
