/// The figures of `berth schedule`.
#pragma once

#include <vector>

#include "scheduling/jobs/figures.h"
#include "scheduling/jobs/workload.h"
#include "surface/figures/figure_table.h"

namespace berth::figures {

/// A row for each policy. Without a job that has a deadline there is no column of those missed for people.
[[nodiscard]] FigureTable schedule_figures(const sched::Workload& workload,
                                           const std::vector<sched::PolicyFigures>& results);

}  // namespace berth::figures
