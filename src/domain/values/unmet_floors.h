/// Why a plan leaves floors unmet: exactly one of three answers. docs/reference/constraints.md says what each means.
#pragma once

#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/constraint.h"

namespace berth {

/// A proof that no plan keeps all of these constraints under the expected loads.
struct ProvenConflict {
  std::vector<ConstraintId> constraints;  ///< in their order, at least one floor among them
  bool is_minimal = true;                 ///< the others can be met without any one of them; false: not known
  friend bool operator==(const ProvenConflict&, const ProvenConflict&) = default;
};

/// A change that began earlier occupies GPUs. Once it is done, all floors can be met.
struct ChangeUnderWay {
  Instant until;  ///< when it is expected to be done: a plan that takes effect then can meet them
  friend bool operator==(const ChangeUnderWay&, const ChangeUnderWay&) = default;
};

/// The search ended at its limit with neither a plan that meets all floors nor a proven conflict.
struct FloorsNotDecided {
  friend bool operator==(const FloorsNotDecided&, const FloorsNotDecided&) = default;
};

using UnmetFloors = std::variant<ProvenConflict, ChangeUnderWay, FloorsNotDecided>;

}  // namespace berth
