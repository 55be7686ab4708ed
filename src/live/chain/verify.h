/// Walks through all that a store keeps and checks it.
#pragma once

#include <cstdint>

#include "domain/ports/journal_store.h"

namespace berth::chain {

/// What was found and is right.
struct JournalCounts {
  std::uint64_t first = 0;  ///< the oldest row; 0 if there is none
  std::uint64_t last = 0;
  std::uint64_t rows = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t outcomes = 0;
  std::uint64_t usage = 0;
  std::uint64_t blobs = 0;  ///< whole or not
  friend bool operator==(const JournalCounts&, const JournalCounts&) = default;
};

/// Reads every row, snapshot, outcome, row of usage and blob, and computes the chain again, whatever the reader checked
/// itself. Usage is in no chain: it must cover each unit of a GPU from the unit's first row to its last, without a gap,
/// so that a row that is missing between others is found, too. A blob that is whole has the bytes of its name. The
/// error names the first that is wrong. Rows may be appended and pruned in the meantime. O(bytes); it holds a few
/// hundred rows at a time, or the usage of one GPU where some came in the meantime.
[[nodiscard]] StoreResult<JournalCounts> verify_journal(JournalReader& reader);

}  // namespace berth::chain
