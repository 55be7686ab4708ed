/// Each job as a bar over time under one policy, as a part of the page of `berth schedule`.
#pragma once

#include <cstddef>
#include <string>

#include "surface/pages/schedule_view.h"

namespace berth::report {

/// The maximum number of pieces of bars in one picture: if there are more, those separated by short interruptions are
/// joined.
inline constexpr std::size_t kBarPiecesMax = 2'500;

/// Jobs in order of submission. If the run was not recorded job by job, a note that says why.
[[nodiscard]] std::string job_bars(const ScheduleView& view, std::size_t index);

/// What the parts of a bar mean, as a legend.
[[nodiscard]] std::string bars_key(const ScheduleView& view);

}  // namespace berth::report
