/// The page of `berth scale`: arrivals, capacity and misses over time, as one self-contained HTML page without script.
#pragma once

#include <cstddef>
#include <string>

#include "purchase/scale/comparison.h"

namespace berth::report {

/// The page, UTF-8: the answer in words, the policies side by side, arrivals with the capacity that is ready and
/// starting and the misses for `berth` and its rival (`tuned`, else the best other one), over the whole run and around
/// the busiest second, and why `berth` made its largest steps. Names are escaped; absent figures are a dash. Many
/// seconds share a column, and the page says so. The same comparison gives the same bytes. Requires: at least one
/// result, and a run of at least one second.
[[nodiscard]] std::string render_scale_report(const scale::Comparison& comparison);

/// The maximum number of changes listed with their reasons.
inline constexpr std::size_t kReasonRowsMax = 12;

}  // namespace berth::report
