/// What a policy that re-cuts while it runs wants to stand, and what it may know when it decides.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "domain/plan.h"
#include "domain/slice.h"
#include "domain/snapshot.h"
#include "partition/layout.h"

namespace berth::partition {

/// A slice that should stand, for whom, and how its holder should run on it.
struct Wanted {
  Holding holding;
  std::optional<PointChoice> point = std::nullopt;  ///< absent: the default point
  friend bool operator==(const Wanted&, const Wanted&) = default;
};

/// The whole fleet as it should be: what is not in it should go.
struct Target {
  std::vector<Wanted> holdings;  ///< sorted by slice, no slice twice; legal on each GPU
  Reason reason;                 ///< of each action that leads there
  std::optional<double> objective = std::nullopt;
  std::optional<double> bound = std::nullopt;
};

/// What a policy may look at.
struct Sight {
  const Snapshot& snapshot;
  /// By service: the share of the retraining under way that is done, in [0, 1]; 0 where none is due.
  std::span<const double> retraining_progress;
};

/// Nothing: what stands (or is on its way) stays.
using Decision = std::variant<std::monostate, Target, Infeasible>;

}  // namespace berth::partition
