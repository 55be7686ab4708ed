/// How long jobs wait under each policy, as a part of the page of `berth schedule`.
#pragma once

#include <string>

#include "surface/pages/schedule_view.h"

namespace berth::report {

/// The cumulative share of the jobs by wait, one line for each policy; waits on a logarithmic scale that includes 0.
[[nodiscard]] std::string waits_figure(const ScheduleView& view);

}  // namespace berth::report
