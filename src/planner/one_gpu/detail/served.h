/// The worth of a service in ranges of slots at a fixed capacity, given the capacity outside: a few lookups.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "planner/window/problem.h"

namespace berth::planner {

/// The index of a capacity, see Served.
using LevelIndex = Index<struct LevelTag>;

/// Prefix sums over the slots of a problem, for one service, by capacity level and by whether the model is fresh.
///
/// A level is a capacity: requests per second by variant of ready pieces, without the capacity outside (added in each
/// slot). Without retraining the model is fresh, and only that is stored. Levels are created on demand: O(slots x
/// samples x variants) each; lookups are O(1).
class Served {
 public:
  /// Keeps a reference to the problem.
  Served(const Problem& problem, ServiceIndex service);

  /// The level of a capacity, [variant]; equal sums are one level.
  LevelIndex level_of(std::span<const double> capacity);
  [[nodiscard]] int levels_count() const { return static_cast<int>(tails_.size() / 2); }

  /// Value of the slots [from, to). Requires: 0 <= from <= to <= slots.
  [[nodiscard]] double value(LevelIndex level, bool is_fresh, SlotIndex from, SlotIndex to) const {
    const double* sums = prefix(level, is_fresh);
    return sums[to] - sums[from];
  }
  /// Sums of slots + 1 ranges: element t is the value of the slots [0, t).
  [[nodiscard]] const double* prefix(LevelIndex level, bool is_fresh) const {
    return sums_.data() + row(level, is_fresh);
  }
  /// Value of the whole tail, and of a fresh model beyond it.
  [[nodiscard]] double tail(LevelIndex level, bool is_fresh) const {
    return tails_[static_cast<std::size_t>(level) * 2 + (is_fresh ? 1 : 0)];
  }

 private:
  [[nodiscard]] std::size_t row(LevelIndex level, bool is_fresh) const {
    return (static_cast<std::size_t>(level) * 2 + (is_fresh ? 1 : 0)) * slots_and_one_;
  }
  void add_level(std::span<const double> capacity);
  [[nodiscard]] double value_of_second(std::span<const double> capacity, SlotIndex slot, bool is_fresh) const;

  const Problem& problem_;
  const ServiceTerms& terms_;
  std::size_t slots_and_one_;
  std::vector<std::size_t> order_[2];  ///< variants, most accurate first; [is_fresh]
  std::map<std::vector<double>, LevelIndex> levels_;
  std::vector<double> sums_;
  std::vector<double> tails_;
};

}  // namespace berth::planner
