/// Reads a WAL as SQLite's recovery does, without changing it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "edges/sqlite_store/detail/raw_file.h"

namespace berth::edges::detail {

struct WalScan {
  std::uint32_t page_count = 0;             ///< of the database after the last commit in the WAL; 0: there is none
  std::unordered_set<std::uint32_t> pages;  ///< which the commits hold
  std::optional<std::vector<std::uint8_t>> first_page;  ///< page 1 after the last commit
  std::uint64_t torn_bytes =
      0;  ///< behind the last commit: neither part of one, nor left from an earlier use of the file
};

/// O(size of the file). What is not a WAL at all counts as an empty one, as it does for SQLite.
[[nodiscard]] StoreResult<WalScan> scan_wal(const RawFile& file);

}  // namespace berth::edges::detail
