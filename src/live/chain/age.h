/// How old the rows of a journal are.
#pragma once

#include <cstdint>

#include "domain/ports/journal_store.h"

namespace berth::chain {

/// The first row made at that wall time or later; the one behind the last if there is none. `wall_us`: microseconds
/// since 1970. Where the wall clock went back, it may be any row at which the times cross. O(log rows) reads.
[[nodiscard]] StoreResult<std::uint64_t> first_row_since(JournalReader& reader, std::int64_t wall_us);

/// Whether the wall clock, which shows `wall_us`, went on by more than `within_us` at once within the last `within_us`:
/// from one row to the next, or from the newest row to now. Then it may be wrong, or nothing ran for so long. Rows made
/// at a later time than now are no evidence: the clock has been set back since. O(log rows) reads.
[[nodiscard]] StoreResult<bool> has_jumped(JournalReader& reader, std::int64_t wall_us, std::int64_t within_us);

}  // namespace berth::chain
