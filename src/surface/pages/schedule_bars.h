/// Each job as a bar over time under one policy, as a part of the page of `berth schedule`.
#pragma once

#include <cstddef>
#include <string>

#include "surface/pages/schedule_view.h"

namespace berth::report {

/// At most so many pieces of bars are drawn in one of the pictures: where there are more, those behind short
/// interruptions are joined.
inline constexpr std::size_t kBarPiecesMax = 2'500;

/// Jobs in the order of submit. Where the course does not follow jobs one by one, a note that says why.
[[nodiscard]] std::string job_bars(const ScheduleView& view, std::size_t index);

/// What the parts of a bar mean, as a legend.
[[nodiscard]] std::string bars_key(const ScheduleView& view);

}  // namespace berth::report
