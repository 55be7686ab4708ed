/// The results of scheduling policies as text for people.
#pragma once

#include <string>
#include <vector>

#include "scheduling/jobs/figures.h"
#include "scheduling/jobs/workload.h"

namespace berth::cli {

[[nodiscard]] std::string schedule_table(const sched::Workload& workload,
                                         const std::vector<sched::PolicyFigures>& results, bool has_colour);

}  // namespace berth::cli
