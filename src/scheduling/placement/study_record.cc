#include "scheduling/placement/study_record.h"

#include <algorithm>

namespace berth::placement {
namespace {

/// An upper bound of the demand at the end of any run: runs that draw pods stop when the next one would exceed the
/// demand, counting one GPU of a pod with several; a whole gang, or a list that is not drawn, counts in full.
std::int64_t demand_percent_most(const Problem& problem, const StudyOptions& options) {
  std::int64_t listed = 0;
  std::int64_t largest = 0;
  for (const ShapeIndex shape : problem.shape_of_pod) {
    const std::int64_t milli = problem.shapes[static_cast<std::size_t>(shape)].demand_milli();
    listed += milli;
    largest = std::max(largest, milli);
  }
  const std::int64_t capacity = problem.capacity_milli();
  if (options.order == ArrivalOrder::kGiven) return rounded_percent(listed, capacity);
  return (options.demand * Decimal(100)).floor() + 1 + rounded_percent(largest, capacity);
}

}  // namespace

StudyRecorder::StudyRecorder(const Problem& problem, const StudyOptions& options) : problem_(&problem) {
  record_.asked = asked_rows(problem);
  record_.axis = options.order == ArrivalOrder::kChurn ? CourseAxis{.is_churning = true}
                                                       : demand_axis(demand_percent_most(problem, options));
}

void StudyRecorder::listen(Policy policy, const Arrivals& arrivals, RunListener& listener) {
  if (record_.policies.empty() || record_.policies.back().policy != policy) {
    record_.policies.push_back({.policy = policy, .idle = {.rows = record_.asked.rows}});
  }
  if (arrivals.is_churning) {
    record_.axis.mean_stay = arrivals.mean_stay;
    record_.measured_from = static_cast<double>(arrivals.measured_from) / std::max(arrivals.mean_stay, 1.0);
  }
  course_.emplace(record_.axis, problem_->capacity_milli());
  listener.measured = [this](const RunMeasure& measure) { course_->add(measure); };
  listener.ended = [this](Cluster& cluster) { end_run(cluster); };
}

void StudyRecorder::end_run(Cluster& cluster) {
  PolicyRecord& policy = record_.policies.back();
  UsableByNode usable;
  policy.idle += idle_capacity(cluster, record_.asked, &usable);
  if (policy.course.runs() == 0) policy.end = cluster_end(cluster, usable);
  policy.course.add(course_->finish());
}

}  // namespace berth::placement
