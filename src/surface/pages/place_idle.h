/// The causes of each policy's idle GPU capacity at the end of its runs.
#pragma once

#include <string>

#include "scheduling/placement/study_record.h"

namespace berth::report {

/// The legend and the chart.
[[nodiscard]] std::string idle_figure(const placement::StudyPage& page);
/// The same as a table; the value of each cell is in milli-GPU x rows, summed over the runs.
[[nodiscard]] std::string idle_table(const placement::StudyPage& page);
/// Explanations of the causes that occur.
[[nodiscard]] std::string idle_terms(const placement::StudyPage& page);

}  // namespace berth::report
