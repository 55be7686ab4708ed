/// Policies on the same jobs, with their timelines, as a page shows them.
#pragma once

#include <string>
#include <vector>

#include "scheduling/jobs/figures.h"
#include "scheduling/jobs/run_course.h"
#include "scheduling/jobs/workload.h"

namespace berth::sched {

struct Comparison {
  std::string trace_name;
  const Workload* workload = nullptr;  ///< borrowed
  Terms terms = {};
  std::vector<PolicyFigures> results = {};
  std::vector<RunCourse> courses = {};  ///< one per result
};

}  // namespace berth::sched
