/// The length of the queue over time under each policy, as a part of the page of `berth schedule`.
#pragma once

#include <string>

#include "surface/pages/schedule_view.h"

namespace berth::report {

/// A picture for each policy, all on the same scales.
[[nodiscard]] std::string queue_figures(const ScheduleView& view);

/// Whether the scales are logarithmic, because the queues differ greatly in length.
[[nodiscard]] bool has_log_queues(const ScheduleView& view);

}  // namespace berth::report
