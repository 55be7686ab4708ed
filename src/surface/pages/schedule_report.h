/// The page of `berth schedule`: policies compared, GPUs by tenant, queues, waits and each job over time, as one
/// self-contained HTML page without script.
#pragma once

#include <string>

#include "scheduling/jobs/comparison.h"

namespace berth::report {

/// The page, UTF-8. Names are escaped; absent figures are a dash. Policies are switched by buttons that need no script;
/// browsers without support for them (CSS :has) show all policies. Charts over time have at most
/// sched::kCourseColumnsMax columns and sched::kCourseTenantsMax tenants, jobs are drawn for lists of at most
/// sched::kCourseJobsMax, and the page says so. The same arguments give the same bytes. Requires: at least one result,
/// and a timeline for each.
[[nodiscard]] std::string render_schedule_report(const sched::Comparison& comparison);

}  // namespace berth::report
