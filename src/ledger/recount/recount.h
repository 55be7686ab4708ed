/// The second way from events to a report: plain, slower, and without any code of the first (`ledger/books`), so that a
/// fault of either shows as a difference.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "ledger/books/report.h"

namespace berth::ledger {

/// Reads a file of events line by line and counts everything again.
///
/// A line that is no event is an Error "FILE:LINE:COLUMN: ...". `progress` is called now and then with the number of
/// lines that were read. O(n log n) in the lines and in the parts of cells; a closed month of a GPU is counted again
/// only where it changed. Memory: about 260 bytes for each line that is no duplicate, and the rows.
[[nodiscard]] Result<Report> recount(std::string_view text, std::string_view file,
                                     const std::function<void(std::uint64_t lines)>& progress = {});

/// Where two reports differ first, in words such as
/// "2026-11, acme/chat/h100/inference/usage: 12 grains here, 13 there"; absent: they are equal. `a` is here.
[[nodiscard]] std::optional<std::string> find_difference(const Report& a, const Report& b);

}  // namespace berth::ledger
