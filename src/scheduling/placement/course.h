/// The allocated share over a run, in columns: by the demand of the arrivals so far, or by the number of arrivals if
/// pods leave.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduling/placement/arrivals.h"
#include "scheduling/placement/run.h"

namespace berth::placement {

/// 100 x part / whole, rounded half up. Requires: 0 <= part, 1,000 <= whole < 2^50; part may exceed it by far, like the
/// demand of pods with a billion GPUs each.
[[nodiscard]] constexpr std::int64_t rounded_percent(std::int64_t part, std::int64_t whole) {
  return 100 * (part / whole) + (200 * (part % whole) + whole) / (2 * whole);
}

inline constexpr std::int64_t kCourseColumnsMax = 400;
/// With departures: columns for the M arrivals of a mean stay.
inline constexpr std::int64_t kColumnsPerStay = 50;

/// The columns of the runs of a study, the same for every policy.
struct CourseAxis {
  bool is_churning = false;
  std::int64_t percent_per_column = 1;  ///< of demand; without departures
  double mean_stay = 0;                 ///< with departures: M, in arrivals
};
/// An axis wide enough for any run with demands up to `percent_most`.
[[nodiscard]] CourseAxis demand_axis(std::int64_t percent_most);

/// One run. Column d: the mean allocated share over the arrivals whose demand, rounded to a percent, lies in it; if
/// there is none, the share after the last earlier arrival.
class RunCourse {
 public:
  RunCourse(const CourseAxis& axis, std::int64_t capacity_milli) : axis_(axis), capacity_milli_(capacity_milli) {}

  void add(const RunMeasure& measure);
  /// Allocated in percent of the GPUs, by column; at least one.
  [[nodiscard]] const std::vector<double>& finish();

 private:
  [[nodiscard]] std::int64_t column_of(std::int64_t arrival, std::int64_t demand_milli) const;
  void close();

  CourseAxis axis_;
  std::int64_t capacity_milli_;
  std::vector<double> percent_;  ///< of the columns before the open one
  std::int64_t column_ = 0;
  std::int64_t sum_milli_ = 0;  ///< of the open column
  std::int64_t count_ = 0;
  std::int64_t last_milli_ = 0;
};

/// The mean and the range over the runs of a policy, by column. A run that ends before others keeps its last value.
class CourseBand {
 public:
  /// Requires: not empty.
  void add(const std::vector<double>& run);

  [[nodiscard]] std::size_t columns() const { return sum_.size(); }
  [[nodiscard]] int runs() const { return runs_; }
  [[nodiscard]] double mean(std::size_t column) const { return sum_[column] / runs_; }
  [[nodiscard]] double least(std::size_t column) const { return least_[column]; }
  [[nodiscard]] double most(std::size_t column) const { return most_[column]; }

 private:
  std::vector<double> sum_;  ///< over the runs
  std::vector<double> least_;
  std::vector<double> most_;
  int runs_ = 0;
};

}  // namespace berth::placement
