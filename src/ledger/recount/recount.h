/// The second computation from events to a report: simple, slower, and sharing no code with the first (`ledger/books`),
/// so that a fault of either shows as a difference.
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
/// A line that is not an event is an Error "FILE:LINE:COLUMN: ...". `progress` is called occasionally with the number
/// of lines read. O(n log n) in the lines and in the parts of cells; a closed month of a GPU is counted again only
/// where it changed. Memory: about 260 bytes for each line that is not a duplicate, and the rows.
[[nodiscard]] Result<Report> recount(std::string_view text, std::string_view file,
                                     const std::function<void(std::uint64_t lines)>& progress = {});

/// The first difference between two reports, in words such as "2026-11, acme/chat/h100/inference/usage: 12 grains here,
/// 13 there"; absent: they are equal. `a` is here.
[[nodiscard]] std::optional<std::string> find_difference(const Report& a, const Report& b);

}  // namespace berth::ledger
