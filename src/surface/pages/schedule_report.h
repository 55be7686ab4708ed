/// The page of `berth schedule`: policies compared, GPUs by tenant, queues, waits and each job over time, as one
/// self-contained HTML page without script.
#pragma once

#include <string>

#include "scheduling/jobs/comparison.h"

namespace berth::report {

/// The page, UTF-8. Names are escaped; absent figures are a dash. Policies are switched by buttons that need no script;
/// where a browser does not know them (CSS :has) all are shown. Courses have at most sched::kCourseColumnsMax columns
/// and sched::kCourseTenantsMax tenants, jobs are drawn in lists of at most sched::kCourseJobsMax, and the page says
/// so. The same arguments give the same bytes. Requires: at least one result, and a course for each.
[[nodiscard]] std::string render_schedule_report(const sched::Comparison& comparison);

}  // namespace berth::report
