/// What is known about whether constraints can all be met.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "domain/values/constraint.h"

namespace berth {

/// Constraints of which it is proven that no plan keeps all of them.
struct Conflict {
  std::vector<ConstraintId> constraints;  ///< in their order; empty: no plan exists even without constraints
  bool is_minimal = true;                 ///< if any one of them is left out, the others can be met
  bool is_smallest = true;                ///< and no conflict has fewer constraints
  int calls = 0;                          ///< how often the question was asked
  std::string why;                        ///< what was wanted and found, if no search was needed; may be empty
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
