/// The figures of `berth schedule`.
#pragma once

#include <vector>

#include "scheduling/jobs/figures.h"
#include "scheduling/jobs/workload.h"
#include "surface/figures/figure_table.h"

namespace berth::figures {

/// A row for each policy. If no job has a deadline, text and page have no column of missed deadlines.
[[nodiscard]] FigureTable schedule_figures(const sched::Workload& workload,
                                           const std::vector<sched::PolicyFigures>& results);

}  // namespace berth::figures
