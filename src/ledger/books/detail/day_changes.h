/// Which parts of a counted day must be counted again after uses came or went.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ledger/books/detail/gpu_book.h"
#include "ledger/books/detail/use_set.h"

namespace berth::ledger::detail {

/// What changed in a day: outside of the windows each cell is as it was.
struct DayChanges {
  std::vector<Interval> windows;     ///< by time, not empty, without overlaps
  std::vector<std::uint64_t> added;  ///< positions of uses that were not there when the day was counted, ascending
  std::vector<UseRecord> removed;    ///< those that were there

  [[nodiscard]] bool is_added(const UseRecord& use) const;
};

/// `uses`: of the day, as they are now. `changes`: since it was counted, in their order.
///
/// A use changes the cells that it touches, and divides or joins those in which it begins and ends. So its window ends
/// at borders of cells that were there before and are there now: those of uses that stayed, or the ends of the day.
/// O((uses + changes) log changes).
[[nodiscard]] DayChanges find_day_changes(const UseSet& uses, std::span<const UseChange> changes, const Interval& day);

}  // namespace berth::ledger::detail
