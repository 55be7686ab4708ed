/// What the idle GPU capacity of each policy is stuck in at the end of its runs.
#pragma once

#include <string>

#include "scheduling/placement/study_record.h"

namespace berth::report {

/// The legend and the chart.
[[nodiscard]] std::string idle_figure(const placement::StudyPage& page);
/// The same as a table; each cell has milli x rows, summed over the runs, as its value.
[[nodiscard]] std::string idle_table(const placement::StudyPage& page);
/// The causes in words, those that occur.
[[nodiscard]] std::string idle_terms(const placement::StudyPage& page);

}  // namespace berth::report
