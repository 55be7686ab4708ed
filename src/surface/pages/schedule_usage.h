/// GPUs by tenant over time under one policy, as parts of the page of `berth schedule`.
#pragma once

#include <cstddef>
#include <string>

#include "surface/pages/schedule_view.h"

namespace berth::report {

/// The GPUs of all tenants, stacked in the order of the tree, with their means on the right.
[[nodiscard]] std::string usage_figure(const ScheduleView& view, std::size_t index);

/// A picture of each followed tenant and group with its guarantee and limit; empty if no tenant has either.
[[nodiscard]] std::string share_figures(const ScheduleView& view, std::size_t index);

/// Whether share_figures() has any.
[[nodiscard]] bool has_shares(const ScheduleView& view);

/// What the lines of share_figures() mean.
[[nodiscard]] std::string share_key();

}  // namespace berth::report
