/// How old the rows of a journal are.
#pragma once

#include <cstdint>

#include "ports/journal_store.h"

namespace berth::chain {

/// The first row made at that wall time or later; the one behind the last if there is none. `wall_us`: microseconds
/// since 1970. Where the wall clock went back, it may be any row at which the times cross. O(log rows) reads.
[[nodiscard]] StoreResult<std::uint64_t> first_row_since(JournalReader& reader, std::int64_t wall_us);

}  // namespace berth::chain
