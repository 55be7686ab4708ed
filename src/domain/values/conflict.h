/// Whether all constraints can be met, as far as it is known.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "domain/values/constraint.h"

namespace berth {

/// Constraints of which it is proven that no plan keeps all of them.
struct Conflict {
  std::vector<ConstraintId> constraints;  ///< in their order; empty: no plan exists even without constraints
  bool is_minimal = true;                 ///< the others can be met without any one of them
  bool is_smallest = true;                ///< no conflict has fewer constraints
  int calls = 0;                          ///< number of feasibility checks
  std::string why;                        ///< wanted and found, if no search was needed; may be empty
  friend bool operator==(const Conflict&, const Conflict&) = default;
};

/// All constraints can be met together.
struct CanBeMet {
  friend bool operator==(const CanBeMet&, const CanBeMet&) = default;
};
/// Neither a way to keep all of them nor a proven conflict was found.
struct NotDecided {
  friend bool operator==(const NotDecided&, const NotDecided&) = default;
};
using ConflictSearchResult = std::variant<CanBeMet, Conflict, NotDecided>;

}  // namespace berth
