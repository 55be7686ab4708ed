/// The page of `berth scale`: arrivals, capacity and misses over time, as one self-contained HTML page without script.
#pragma once

#include <cstddef>
#include <string>

#include "purchase/scale/comparison.h"

namespace berth::report {

/// The page, UTF-8: the answer in words, the policies side by side, arrivals with the capacity that is ready and
/// starting and the misses for `berth` and its rival (`tuned`, else the best other one), over the whole run and around
/// the busiest second, and why `berth` made its largest steps. Names are escaped; absent figures are a dash. Many
/// seconds share a column, and the page says so. The same comparison gives the same bytes. Requires: a result at least,
/// a run of a second at least.
[[nodiscard]] std::string render_scale_report(const scale::Comparison& comparison);

/// So many changes are listed with their reasons.
inline constexpr std::size_t kReasonRowsMax = 12;

}  // namespace berth::report
