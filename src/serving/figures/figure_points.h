/// Seconds as points of a graph.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "serving/service/figure_service.h"

namespace berth::serving {

/// Whether points may have this step: a divisor of a minute, or a multiple of it up to a day. In seconds.
[[nodiscard]] bool is_figure_step(std::int64_t step);

/// Seconds from the first to the second, both included.
using SecondRange = std::pair<std::int64_t, std::int64_t>;

/// The points of the seconds in [from, to), at most `count_max`. `known`: the seconds with data, whether they had
/// something to count or not. Requires: is_figure_step(step); from <= to; at most some thousand seconds.
[[nodiscard]] std::vector<FigurePoint> figure_points(const std::map<std::int64_t, RequestFigures>& seconds,
                                                     const std::vector<SecondRange>& known, SecondRange asked,
                                                     const AskedFigures& how);

}  // namespace berth::serving
