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
  std::unordered_set<std::uint32_t> pages;  ///< the pages in the commits
  std::optional<std::vector<std::uint8_t>> first_page;  ///< page 1 after the last commit
  std::uint64_t torn_bytes =
      0;  ///< after the last commit: neither part of one, nor left from an earlier use of the file
  /// The number, from 1, of a damaged frame that is followed by the end of a commit after which another one began.
  /// SQLite would drop all of these. Nothing: there is no such frame; any damage is limited to the last transaction.
  std::optional<std::uint64_t> broken_frame;
  /// If the header is damaged, so that SQLite takes the WAL for an empty one: the pages of the commits after it, with
  /// the offset of the last content of each.
  std::map<std::uint32_t, std::uint64_t> hidden_pages;
};

/// O(size of the file). A file that is not a WAL counts as an empty one, as for SQLite.
[[nodiscard]] StoreResult<WalScan> scan_wal(const RawFile& file);

/// Whether the database already contains the hidden pages of its WAL. If so, nothing is missing: a WAL is restarted,
/// with another header, only after its pages have been copied.
[[nodiscard]] StoreResult<bool> are_pages_copied(const RawFile& wal, const WalScan& scan, const RawFile& file);

}  // namespace berth::edges::detail
