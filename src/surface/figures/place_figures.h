/// The figures of `berth place`.
#pragma once

#include <vector>

#include "scheduling/placement/study.h"
#include "surface/figures/figure_table.h"

namespace berth::figures {

/// A row for each policy. Text and page have only columns in which some policy has a figure. Shares are percentages of
/// the GPUs.
[[nodiscard]] FigureTable place_figures(const placement::Problem& problem,
                                        const std::vector<placement::PolicyResult>& results);

}  // namespace berth::figures
