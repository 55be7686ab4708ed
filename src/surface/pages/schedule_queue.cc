#include "surface/pages/schedule_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/pages/zero_log_scale.h"

namespace berth::report {
namespace {

using sched::CourseSeries;
using sched::RunCourse;

constexpr double kQueueWidth = 340;
constexpr double kQueueLaneHeight = 74;
constexpr int kQueueTimesMax = 5;
constexpr int kQueueValuesMax = 3;
constexpr double kLogAbove = 10;  ///< the ratio of means from which scales are logarithmic

enum class QueueMeasure { kJobs, kGpus };

const CourseSeries& queue_series(const RunCourse& course, QueueMeasure measure) {
  return measure == QueueMeasure::kJobs ? course.queued_jobs() : course.queued_gpus();
}

ChartFrame queue_frame(QueueMeasure measure) {
  const double top = measure == QueueMeasure::kJobs ? 20 : 20 + kQueueLaneHeight + 28;
  return {.left = 52,
          .right = kQueueWidth - 4,
          .top = top,
          .bottom = top + kQueueLaneHeight,
          .height = top + kQueueLaneHeight + 24};
}

/// A measure of the queue, on a scale shared by all policies.
class QueueLane {
 public:
  QueueLane(const ScheduleView& view, QueueMeasure measure)
      : view_(view), measure_(measure), frame_(queue_frame(measure)), is_log_(has_log_queues(view)) {
    double most = 1;
    for (const std::size_t index : view.order) {
      values_.push_back(column_values(view.course(index), queue_series(view.course(index), measure)));
      most = std::max(most, std::ranges::max(values_.back()));
    }
    linear_ = value_scale(frame_, most);
    log_ = {.least = 1,
            .most = std::max(10.0, most),
            .at_zero = frame_.bottom,
            .at_least = frame_.bottom - kQueueLaneHeight / 8,
            .at_most = frame_.top};
  }

  [[nodiscard]] const ChartFrame& frame() const { return frame_; }
  /// The line of the policy at this place of the order; all pictures reuse it.
  [[nodiscard]] std::string line(std::size_t place) const {
    const StepChart chart =
        course_chart(view_, view_.course(view_.order[place]), frame_,
                     {.first = frame_.bottom, .last = frame_.top, .at_first = frame_.bottom, .at_last = frame_.top});
    std::vector<double> heights;
    heights.reserve(values_[place].size());
    for (const double value : values_[place]) heights.push_back(at(value));
    return fmt::format(R"(<g id="{}">{}</g>)", id(place), step_line(chart, "", heights));
  }
  [[nodiscard]] std::string id(std::size_t place) const {
    return fmt::format("q{}{}", measure_ == QueueMeasure::kJobs ? "j" : "g", place);
  }
  [[nodiscard]] std::string axis() const {
    std::string svg;
    for (const double value : ticks()) {
      svg +=
          fmt::format(R"(<path class="{}" d="M{} {}H{}"/><text x="{}" y="{}" text-anchor="end">{}</text>)",
                      value == 0 ? "axisline" : "gridline", position(frame_.left), position(at(value)),
                      position(frame_.right), position(frame_.left - 6), position(at(value) + 4), axis_text(value, ""));
    }
    return svg + fmt::format(R"(<text class="name" x="{}" y="{}">{}</text>)", position(frame_.left),
                             position(frame_.top - 8),
                             measure_ == QueueMeasure::kJobs ? "jobs that wait" : "GPUs that they ask for");
  }

 private:
  [[nodiscard]] double at(double value) const { return is_log_ ? log_.at(value) : linear_.at(value); }
  [[nodiscard]] std::vector<double> ticks() const {
    if (!is_log_) return round_values(linear_.first, linear_.last, kQueueValuesMax);
    constexpr double kTickApart = 14;
    std::vector<double> values = {0};
    double last = log_.at(0);
    for (std::int64_t power = 1; static_cast<double>(power) <= log_.most; power *= 10) {
      const auto value = static_cast<double>(power);
      if (last - log_.at(value) < kTickApart) continue;
      values.push_back(value);
      last = log_.at(value);
    }
    return values;
  }

  const ScheduleView& view_;
  QueueMeasure measure_;
  ChartFrame frame_;
  bool is_log_;
  std::vector<std::vector<double>> values_;  ///< of the policies in the order of the view
  ChartScale linear_;
  ZeroLogScale log_;
};

std::string queue_figure(const ScheduleView& view, std::size_t place, const std::vector<QueueLane>& lanes) {
  const RunCourse& course = view.course(view.order[place]);
  std::string svg;
  for (const QueueLane& lane : lanes) {
    svg += lane.axis();
    for (std::size_t other = 0; other < view.order.size(); ++other) {
      if (other != place) svg += fmt::format("<use href=\"#{}\" class=\"other\"/>", lane.id(other));
    }
    svg += fmt::format("<use href=\"#{}\" class=\"own\"/>", lane.id(place));
  }
  const ChartFrame& last = lanes.back().frame();
  svg += time_axis(last, time_scale(view, last), kQueueTimesMax);
  const std::string words = fmt::format("mean {} jobs, {} GPUs", significant(course.mean(course.queued_jobs())),
                                        significant(course.mean(course.queued_gpus())));
  return fmt::format(
      "<figure{}><figcaption><b>{}</b><span>{}</span></figcaption><svg viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"Queue over time under {}: {}\">{}</svg></figure>\n",
      course.policy() == sched::Policy::kBerth ? " class=\"best\"" : "", policy_title(course.policy()), words,
      kQueueWidth, position(last.height), sched::name_of(course.policy()), words, svg);
}

}  // namespace

bool has_log_queues(const ScheduleView& view) {
  double least = -1;
  double most = 0;
  for (const RunCourse& course : view.comparison.courses) {
    const double mean = course.mean(course.queued_jobs());
    least = least < 0 ? mean : std::min(least, mean);
    most = std::max(most, mean);
  }
  return most > kLogAbove * least;
}

std::string queue_figures(const ScheduleView& view) {
  std::vector<QueueLane> lanes;
  lanes.reserve(2);
  for (const QueueMeasure measure : {QueueMeasure::kJobs, QueueMeasure::kGpus}) lanes.emplace_back(view, measure);
  std::string figures = R"(<svg class="patterns" aria-hidden="true"><defs>)";
  for (const QueueLane& lane : lanes) {
    for (std::size_t place = 0; place < view.order.size(); ++place) figures += lane.line(place);
  }
  figures += "</defs></svg>\n<div class=\"grid small\">\n";
  for (std::size_t place = 0; place < view.order.size(); ++place) figures += queue_figure(view, place, lanes);
  return figures + "</div>\n";
}

}  // namespace berth::report
