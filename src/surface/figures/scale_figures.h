/// The figures of `berth scale`.
#pragma once

#include "purchase/scale/comparison.h"
#include "surface/figures/figure_table.h"

namespace berth::figures {

/// A row for each policy, and the bound. Without a price, text and page have no column of costs.
[[nodiscard]] FigureTable scale_figures(const scale::Comparison& comparison);

}  // namespace berth::figures
