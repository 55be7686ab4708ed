/// Maps of the nodes, with each GPU as a cell coloured by its use: before any pod was placed, and at the end of a
/// policy's first run.
#pragma once

#include <string>

#include "scheduling/placement/study_record.h"

namespace berth::report {

/// The legend, and the maps side by side: the empty cluster, the best policy and `berth` (else the best two). A node is
/// at the same position in each. With more than `kEndGpusMax` GPUs, bars by model replace the cells.
[[nodiscard]] std::string map_figures(const placement::StudyPage& page);

/// The maximum number of GPUs for which single slices are drawn and nodes have tooltips.
inline constexpr std::int64_t kDetailedGpusMax = 400;
/// The maximum number of models with a heading of their own.
inline constexpr std::size_t kMapModelsMax = 24;

}  // namespace berth::report
