/// The latest values of a series, and their quantiles.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace berth::sched {

class LastValues {
 public:
  /// Keeps the latest `count_max` values; at least 1.
  explicit LastValues(std::size_t count_max) : count_max_(count_max) {}

  /// O(count_max).
  void add(double value);
  [[nodiscard]] std::size_t count() const { return sorted_.size(); }
  /// By nearest rank. Requires: a count above 0, percent from 1 to 100.
  [[nodiscard]] double quantile(std::size_t percent) const;
  [[nodiscard]] const std::vector<double>& sorted() const { return sorted_; }

 private:
  std::size_t count_max_;
  std::deque<double> in_order_;
  std::vector<double> sorted_;
};

}  // namespace berth::sched
