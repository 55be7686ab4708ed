/// Files of spot windows: recorded availability, a JSON object per line.
#pragma once

#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "purchase/spot/market.h"

namespace berth::purchase {

/// The longest window, in ticks.
inline constexpr std::size_t kTicksMax = 1'000'000;

/// The windows of a file, in its order, each a market of one zone. A line has `series`, `window`, `gap_seconds` and
/// `unavailable`, a character per tick: 1 where spot is not available, 0 where it is. Gaps have 1 to 1,000,000 seconds.
/// Other keys are ignored. Errors, as FILE:LINE:COLUMN: unreadable lines, a duplicate name of a window or series, no
/// window.
[[nodiscard]] Result<std::vector<Market>> read_windows(std::string_view text, std::string_view file);

/// Windows with the same name form one market, with its zones in the file's order; markets are in the order of their
/// first windows. Error: different gaps or lengths.
[[nodiscard]] Result<std::vector<Market>> join_zones(const std::vector<Market>& windows, std::string_view file);

}  // namespace berth::purchase
