/// The figures of `berth commit`.
#pragma once

#include "purchase/commit/study.h"
#include "surface/figures/figure_table.h"

namespace berth::figures {

/// A row for each policy.
[[nodiscard]] FigureTable commit_figures(const purchase::CommitComparison& comparison);

}  // namespace berth::figures
