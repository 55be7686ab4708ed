/// The smallest set of constraints that cannot all be met.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace berth {

struct Conflict {
  std::vector<std::string> names;  ///< in the order of the constraints; empty: it fails without any of them
  bool is_minimal = true;          ///< without any one of them the others can be met
  bool is_smallest = true;         ///< and no conflict has fewer names
  int calls = 0;                   ///< of the predicate
  std::string why;                 ///< what was wanted and found, where a search was not needed; may be empty
  friend bool operator==(const Conflict&, const Conflict&) = default;
};

/// Whether some constraints, named in their order, can all be met.
using IsFeasible = std::function<bool(std::span<const std::string>)>;

struct ConflictLimits {
  int calls_max = 200;  ///< of the predicate; at least 1
};

/// The smallest conflict among constraints, or nothing where all of them can be met. Names are distinct.
///
/// Requires: what is feasible with some constraints is feasible with fewer. First a deletion filter: parts of the set,
/// large ones first, are left out for good while the rest cannot be met: a minimal conflict. Then sets of 1, 2, ..
/// names are asked for that no set known as feasible contains, until one cannot be met: a smallest conflict. Each set
/// that can is made as large as it goes, so that the next question teaches something (Ignatiev et al., Smallest MUS
/// Extraction with Minimal Hitting Set Dualization, CP 2015; here the hitting sets are listed, in order). Where the
/// limit ends this, the answer says what it is: still a conflict. One call where all can be met; else at most
/// `calls_max`.
[[nodiscard]] std::optional<Conflict> find_conflict(std::span<const std::string> names, const IsFeasible& is_feasible,
                                                    const ConflictLimits& limits);

/// "a.floor, b.floor and b.pins cannot all be met", with what is known about it.
[[nodiscard]] std::string to_text(const Conflict& conflict);

}  // namespace berth
