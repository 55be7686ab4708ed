/// Reads a WAL as SQLite's recovery does, without changing it.
#pragma once

#include <cstdint>
#include <map>
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
  /// From 1: it is not what was written, and behind it stands the end of a commit after which another one began.
  /// SQLite would drop them all. Nothing: there is none such; what is broken belongs to the last transaction alone.
  std::optional<std::uint64_t> broken_frame;
  /// Where the header is not what was written, so that SQLite takes the WAL for an empty one: the pages of the commits
  /// behind it, and the offset of each one's last content.
  std::map<std::uint32_t, std::uint64_t> hidden_pages;
};

/// O(size of the file). What is not a WAL at all counts as an empty one, as it does for SQLite.
[[nodiscard]] StoreResult<WalScan> scan_wal(const RawFile& file);

/// Whether the database has the hidden pages of its WAL as they are there. If so, nothing is missing: a WAL begins
/// anew, with another header, only when its pages have been copied.
[[nodiscard]] StoreResult<bool> are_pages_copied(const RawFile& wal, const WalScan& scan, const RawFile& file);

}  // namespace berth::edges::detail
