/// The best known schedule, and the worth that another one must exceed to matter.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "planner/one_gpu/detail/service_bound.h"
#include "planner/window/problem.h"

namespace berth::planner {

class Incumbent {
 public:
  /// Values that differ by less, relatively, count as equal.
  static constexpr double kEqualValues = 1e-11;

  /// From now on only schedules that are better by this share matter.
  void set_gap(double gap) {
    ENSURE(gap >= 0);
    gap_ = gap;
  }
  [[nodiscard]] bool has_schedule() const { return value_ > kNever; }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }

  /// Partial schedules with a bound of at most this need not be searched.
  [[nodiscard]] double cutoff() const { return above(std::max(kEqualValues, gap_)); }
  /// Whether a value is better by more than rounding.
  [[nodiscard]] bool is_beaten_by(double value) const { return value > above(kEqualValues); }

  /// Requires: the changes are worth `value`, which is more than the known ones.
  void replace(double value, std::vector<Change> changes) {
    ENSURE(value > value_);
    value_ = value;
    changes_ = std::move(changes);
  }

 private:
  [[nodiscard]] double above(double share) const { return has_schedule() ? value_ + share * std::abs(value_) : value_; }

  double gap_ = 0;
  double value_ = kNever;
  std::vector<Change> changes_;
};

}  // namespace berth::planner
