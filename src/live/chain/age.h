/// How old the rows of a journal are.
#pragma once

#include <cstdint>

#include "domain/ports/journal_store.h"

namespace berth::chain {

/// The first row written at that wall time or later; one past the last row if there is none. `wall_us`: microseconds
/// since 1970. If the wall clock went back, it may be any row at which the times cross. O(log rows) reads.
[[nodiscard]] StoreResult<std::uint64_t> first_row_since(JournalReader& reader, std::int64_t wall_us);

/// Whether the wall clock, which shows `wall_us`, advanced by more than `within_us` at once within the last
/// `within_us`: from one row to the next, or from the newest row to now. If so, it may be wrong, or nothing ran for
/// that long. Rows written at a later time than now are ignored: the clock has been set back since. O(log rows) reads.
[[nodiscard]] StoreResult<bool> has_jumped(JournalReader& reader, std::int64_t wall_us, std::int64_t within_us);

}  // namespace berth::chain
