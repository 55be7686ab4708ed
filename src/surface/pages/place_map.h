/// Maps of the nodes: every GPU a cell, coloured by how much of it is used; before the pods came, and at the end of a
/// policy's first run.
#pragma once

#include <string>

#include "scheduling/placement/study_record.h"

namespace berth::report {

/// The legend, and the maps side by side: the empty cluster, the best policy and `berth` (else the best two). A node
/// stands at the same place in each. With more than `kEndGpusMax` GPUs bars by model stand for the cells.
[[nodiscard]] std::string map_figures(const placement::StudyPage& page);

/// With at most so many GPUs slices are drawn one by one, and nodes have texts.
inline constexpr std::int64_t kDetailedGpusMax = 400;
/// So many models have a heading of their own.
inline constexpr std::size_t kMapModelsMax = 24;

}  // namespace berth::report
