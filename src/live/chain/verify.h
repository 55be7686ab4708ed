/// Walks through everything in a store and checks it.
#pragma once

#include <cstdint>

#include "domain/ports/journal_store.h"

namespace berth::chain {

/// Counts of what was found correct.
struct JournalCounts {
  std::uint64_t first = 0;  ///< the oldest row; 0 if there is none
  std::uint64_t last = 0;
  std::uint64_t rows = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t outcomes = 0;
  std::uint64_t usage = 0;
  std::uint64_t blobs = 0;  ///< complete or not
  friend bool operator==(const JournalCounts&, const JournalCounts&) = default;
};

/// Reads every row, snapshot, outcome, usage row and blob, and computes the chain again, whatever the reader checked
/// itself. Usage is not in the chain: it must cover each unit of a GPU from the unit's first row to its last, without a
/// gap, so that a row missing between others is found, too. The bytes of a complete blob must hash to its name. The
/// error names the first fault. Rows may be appended and pruned in the meantime. O(bytes); it holds a few hundred rows
/// at a time, or the usage of one GPU if rows arrived in the meantime.
[[nodiscard]] StoreResult<JournalCounts> verify_journal(JournalReader& reader);

}  // namespace berth::chain
