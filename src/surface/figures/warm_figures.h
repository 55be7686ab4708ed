/// The figures of `berth warm`.
#pragma once

#include <vector>

#include "serving/warm_study/policies.h"
#include "serving/warm_study/problem.h"
#include "surface/figures/figure_table.h"

namespace berth::figures {

/// A row for each policy. With a memory, text and page have no columns of idle time; without a price, none of money.
[[nodiscard]] FigureTable warm_figures(const warm::Problem& problem, const std::vector<warm::PolicyResult>& results);

}  // namespace berth::figures
