/// The search for a smallest set of constraints that cannot all be met, with a limited number of questions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "domain/values/conflict.h"
#include "domain/values/constraint.h"

namespace berth {

struct Scenario;

/// Whether a set of constraints can be met, as far as known.
enum class Finding : std::uint8_t {
  kCanBeMet,     ///< a way to keep all of them was found
  kCannotBeMet,  ///< it is proven that there is none
  kNotDecided,   ///< neither, within the solver's limits
};

/// Whether some constraints, given in their order, can all be met.
using FeasibilityQuestion = std::function<Finding(std::span<const ConstraintId>)>;

struct ConflictLimits {
  int calls_max = 200;  ///< how often the question may be asked; at least 1
};

/// Whether all constraints can be met, and a smallest conflict where it is proven that they cannot. They are distinct
/// and in their order.
///
/// Requires: if a set of constraints can be met, so can each of its subsets. First a deletion filter finds a minimal
/// set: parts of the set, large ones first, are removed for good if the rest is not known to be feasible. Then the
/// search asks about sets of 1, 2, .. constraints that no feasible set contains, until one is not known to be feasible.
/// Each feasible set is made as large as possible, so that it rules out many questions (Ignatiev et al., Smallest MUS
/// Extraction with Minimal Hitting Set Dualization, CP 2015; here the hitting sets are listed, in order). The answer is
/// a conflict only if some set was proven infeasible: it is then the smallest such set, which may not be minimal where
/// smaller ones were not decided, or where the limit ended the search. One call if all can be met, else at most
/// `calls_max`.
[[nodiscard]] ConflictSearchResult find_conflict(std::span<const ConstraintId> constraints,
                                                 const FeasibilityQuestion& ask, const ConflictLimits& limits);

/// "a.floor, b.floor and b.pins cannot all be met", with what is known about it; `why` alone where there is one.
[[nodiscard]] std::string to_text(const Scenario& scenario, const Conflict& conflict);

/// The same for constraints that cannot all be met; `is_minimal`: without any one of them the others can.
[[nodiscard]] std::string conflict_text(const Scenario& scenario, std::span<const ConstraintId> constraints,
                                        bool is_minimal);

}  // namespace berth
