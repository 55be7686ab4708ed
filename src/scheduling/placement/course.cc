#include "scheduling/placement/course.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::placement {
namespace {

constexpr double kAllPercent = 100.0;

}  // namespace

CourseAxis demand_axis(std::int64_t percent_most) {
  return {.percent_per_column = std::max<std::int64_t>(1, (percent_most + kCourseColumnsMax) / kCourseColumnsMax)};
}

std::int64_t RunCourse::column_of(std::int64_t arrival, std::int64_t demand_milli) const {
  if (!axis_.is_churning) return rounded_percent(demand_milli, capacity_milli_) / axis_.percent_per_column;
  return static_cast<std::int64_t>(static_cast<double>(arrival * kColumnsPerStay) / std::max(axis_.mean_stay, 1.0));
}

void RunCourse::close() {
  const double milli =
      count_ > 0 ? static_cast<double>(sum_milli_) / static_cast<double>(count_) : static_cast<double>(last_milli_);
  percent_.push_back(kAllPercent * milli / static_cast<double>(capacity_milli_));
  ++column_;
  sum_milli_ = 0;
  count_ = 0;
}

void RunCourse::add(const RunMeasure& measure) {
  const std::int64_t column = column_of(measure.arrivals - 1, measure.demand_milli);
  while (column_ < column) close();
  sum_milli_ += measure.batch * measure.used_milli;
  count_ += measure.batch;
  last_milli_ = measure.used_milli;
}

const std::vector<double>& RunCourse::finish() {
  if (count_ > 0 || percent_.empty()) close();
  return percent_;
}

void CourseBand::add(const std::vector<double>& run) {
  ENSURE(!run.empty());
  if (runs_++ == 0) {
    sum_ = least_ = most_ = run;
    return;
  }
  for (std::vector<double>* values : {&sum_, &least_, &most_}) {
    values->resize(std::max(values->size(), run.size()), values->back());
  }
  for (std::size_t column = 0; column < sum_.size(); ++column) {
    const double value = run[std::min(column, run.size() - 1)];
    sum_[column] += value;
    least_[column] = std::min(least_[column], value);
    most_[column] = std::max(most_[column], value);
  }
}

}  // namespace berth::placement
