/// Shared by the charts of a schedule's page: the order of policies, the colours of tenants, scales and words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/jobs/comparison.h"
#include "surface/pages/chart.h"

namespace berth::report {

struct ScheduleView {
  const sched::Comparison& comparison;
  std::vector<std::size_t> order;    ///< the results in the order of the page: `berth` first
  sched::Seconds seconds = 1;        ///< the latest finish under any policy: the end of time in all charts
  std::vector<std::size_t> members;  ///< tenants with jobs: indices among those followed, in the order of the tree
  std::vector<std::optional<std::size_t>> hues;  ///< by tenant: its colour, if it has one of its own
  bool has_others = false;                       ///< tenants without a colour have jobs

  [[nodiscard]] const sched::Workload& workload() const { return *comparison.workload; }
  [[nodiscard]] const sched::PolicyFigures& result(std::size_t index) const { return comparison.results[index]; }
  [[nodiscard]] const sched::RunCourse& course(std::size_t index) const { return comparison.courses[index]; }
  [[nodiscard]] const sched::Tenant& tenant(const sched::FollowedTenant& followed) const {
    return workload().tenant(followed.tenant);
  }
};

[[nodiscard]] ScheduleView schedule_view(const sched::Comparison& comparison);

/// "srpt *": with a star if the policy knows the durations.
[[nodiscard]] std::string policy_title(sched::Policy policy);

/// The classes of a tenant's area or line: "t3", with a pattern such as "p0" from the ninth colour on; "others" without
/// a colour.
struct TenantStyle {
  std::string colour;
  std::optional<std::string> pattern;
};
[[nodiscard]] TenantStyle tenant_style(std::optional<std::size_t> hue);
/// A rectangle of 16 x 12 in the colour of a tenant, for legends.
[[nodiscard]] std::string tenant_swatch(std::optional<std::size_t> hue);
/// The colours of all tenants, as entries of a legend.
[[nodiscard]] std::string tenant_key(const ScheduleView& view);

/// The step chart of a timeline's columns; its time axis covers the view's time.
[[nodiscard]] StepChart course_chart(const ScheduleView& view, const sched::RunCourse& course, const ChartFrame& frame,
                                     const ChartScale& y);
/// The time of the view, in seconds.
[[nodiscard]] ChartScale time_scale(const ScheduleView& view, const ChartFrame& frame);
[[nodiscard]] std::vector<double> column_values(const sched::RunCourse& course, const sched::CourseSeries& series);

/// "45 s", "12 min", "3.4 h", "2.1 d": about three significant digits.
[[nodiscard]] std::string duration_words(double seconds);
/// A name that cannot affect the text around it, truncated to about `width_max`, in hundredths of the font size;
/// escaped.
[[nodiscard]] std::string short_name(std::string_view name, int width_max);

}  // namespace berth::report
