/// The figures of `berth spot`.
#pragma once

#include <vector>

#include "purchase/spot/study.h"
#include "surface/figures/figure_table.h"

namespace berth::figures {

/// A row for each policy. Requires: the scores are of the study.
[[nodiscard]] FigureTable spot_figures(const std::vector<purchase::SpotScore>& scores,
                                       const purchase::SpotStudy& study);

}  // namespace berth::figures
