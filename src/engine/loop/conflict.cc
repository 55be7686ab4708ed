#include "engine/loop/conflict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/core/ensure.h"
#include "domain/values/scenario.h"

namespace berth {
namespace {

/// Numbers of constraints, ascending.
using Subset = std::vector<std::size_t>;

/// The maximum number of sets that the search for a smaller conflict examines, whether or not it asks about them.
constexpr std::int64_t kSubsetsMax = 200'000;

Subset without(const Subset& subset, std::size_t from, std::size_t count) {
  Subset rest(subset.begin(), subset.begin() + static_cast<std::ptrdiff_t>(from));
  rest.insert(rest.end(), subset.begin() + static_cast<std::ptrdiff_t>(from + count), subset.end());
  return rest;
}

Subset with(const Subset& subset, std::size_t number) {
  Subset more = subset;
  more.insert(std::ranges::lower_bound(more, number), number);
  return more;
}

/// The next set of the same size in lexicographic order; false after the last one.
bool advance_subset(Subset& subset, std::size_t count) {
  for (std::size_t i = subset.size(); i-- > 0;) {
    if (subset[i] + (subset.size() - i) >= count) continue;
    ++subset[i];
    for (std::size_t j = i + 1; j < subset.size(); ++j) subset[j] = subset[j - 1] + 1;
    return true;
  }
  return false;
}

class ConflictSearch {
 public:
  ConflictSearch(std::span<const ConstraintId> constraints, const FeasibilityQuestion& ask,
                 const ConflictLimits& limits)
      : constraints_(constraints), ask_(ask), limits_(limits) {}

  ConflictSearchResult run() {
    Subset conflict(constraints_.size());
    std::iota(conflict.begin(), conflict.end(), std::size_t{0});
    if (can_be_met(conflict)) return CanBeMet{};
    const bool is_minimal = shrink(conflict);
    const bool is_smallest = is_minimal && find_smaller(conflict);
    if (!proven_) return NotDecided{};
    // An undecided set is not a conflict. The smallest set with a proof is one, though a smaller one may exist.
    const bool is_proven = *proven_ == conflict;
    Conflict result;
    for (const std::size_t number : *proven_) result.constraints.push_back(constraints_[number]);
    result.is_minimal = is_proven && is_minimal;
    result.is_smallest = is_proven && is_smallest;
    result.calls = calls_;
    return result;
  }

 private:
  [[nodiscard]] bool is_spent() const { return calls_ >= limits_.calls_max; }

  /// Asks the question. Requires: calls are left.
  bool can_be_met(const Subset& subset) {
    ENSURE(!is_spent());
    ++calls_;
    std::vector<ConstraintId> asked;
    asked.reserve(subset.size());
    for (const std::size_t number : subset) asked.push_back(constraints_[number]);
    const Finding finding = ask_(asked);
    if (finding == Finding::kCanBeMet) feasible_.push_back(subset);
    if (finding == Finding::kCannotBeMet && (!proven_ || subset.size() < proven_->size())) proven_ = subset;
    return finding == Finding::kCanBeMet;
  }

  [[nodiscard]] bool is_known_feasible(const Subset& subset) const {
    return std::ranges::any_of(feasible_, [&](const Subset& known) { return std::ranges::includes(known, subset); });
  }

  /// The deletion filter. False if the limit ended it: the set may then not be minimal.
  bool shrink(Subset& conflict) {
    for (std::size_t part = conflict.size(); part > 0; part = part == 1 ? 0 : (part + 1) / 2) {
      for (std::size_t from = 0; from < conflict.size();) {
        const std::size_t count = std::min(part, conflict.size() - from);
        const Subset rest = without(conflict, from, count);
        if (is_known_feasible(rest)) {
          from += count;
          continue;
        }
        if (is_spent()) return false;
        if (can_be_met(rest)) {
          from += count;
        } else {
          conflict = rest;
        }
      }
    }
    return true;
  }

  /// Replaces a minimal conflict by a smallest one. False if the limit ended the search.
  bool find_smaller(Subset& conflict) {
    std::int64_t looked_at = 0;
    for (std::size_t size = 1; size < conflict.size(); ++size) {
      Subset candidate(size);
      std::iota(candidate.begin(), candidate.end(), std::size_t{0});
      do {
        if (++looked_at > kSubsetsMax) return false;
        if (is_known_feasible(candidate)) continue;
        if (is_spent()) return false;
        if (!can_be_met(candidate)) {
          conflict = candidate;
          return true;
        }
        if (!grow(candidate)) return false;
      } while (advance_subset(candidate, constraints_.size()));
    }
    return true;
  }

  /// Adds constraints to a feasible set while it stays feasible. False if the limit ended it.
  bool grow(Subset subset) {
    for (std::size_t number = 0; number < constraints_.size(); ++number) {
      if (std::ranges::binary_search(subset, number)) continue;
      Subset more = with(subset, number);
      if (is_known_feasible(more)) {
        subset = std::move(more);
        continue;
      }
      if (is_spent()) return false;
      if (can_be_met(more)) subset = std::move(more);
    }
    return true;
  }

  std::span<const ConstraintId> constraints_;
  const FeasibilityQuestion& ask_;
  const ConflictLimits& limits_;
  std::vector<Subset> feasible_;  ///< sets found feasible, each made as large as possible
  std::optional<Subset> proven_;  ///< the smallest set that is proven infeasible; the first of that size
  int calls_ = 0;
};

}  // namespace

ConflictSearchResult find_conflict(std::span<const ConstraintId> constraints, const FeasibilityQuestion& ask,
                                   const ConflictLimits& limits) {
  ENSURE(limits.calls_max >= 1);
  return ConflictSearch(constraints, ask, limits).run();
}

std::string conflict_text(const Scenario& scenario, std::span<const ConstraintId> constraints, bool is_minimal) {
  if (constraints.empty()) return "no plan exists, whatever the constraints";
  std::string list = constraint_name(scenario, constraints.front());
  for (std::size_t i = 1; i < constraints.size(); ++i) {
    list += (i + 1 == constraints.size() ? " and " : ", ") + constraint_name(scenario, constraints[i]);
  }
  const std::string fault = constraints.size() == 1 ? list + " cannot be met" : list + " cannot all be met";
  return is_minimal ? fault : fault + " (a smaller conflict may exist)";
}

std::string to_text(const Scenario& scenario, const Conflict& conflict) {
  if (!conflict.why.empty()) return conflict.why;
  return conflict_text(scenario, conflict.constraints, conflict.is_minimal);
}

}  // namespace berth
