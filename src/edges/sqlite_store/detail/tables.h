/// The tables of a journal, and the one row with its beginning and end.
#pragma once

#include <cstdint>

#include "domain/ports/journal_store.h"
#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {

/// The first format with the table `usage`; this is the only difference from the one before.
inline constexpr std::int64_t kUsageFormat = 2;
/// The first one with the tables `blobs` and `blob_parts`, and with bytes for the bodies of snapshots, which were text.
inline constexpr std::int64_t kBlobFormat = 3;

/// The row of `meta`.
struct Meta {
  std::uint64_t epoch = 0;
  std::uint64_t revision = 0;         ///< counts commits
  std::uint64_t pruned_sequence = 0;  ///< the last pruned row, 0: none; the chain begins after it
  Sha256 pruned_hash{};
  std::uint64_t head_sequence = 0;  ///< the last row, kept or not
  Sha256 head_hash{};
  std::uint64_t snapshot_sequence = 0;        ///< of the newest snapshot; 0: none
  std::uint64_t older_snapshot_sequence = 0;  ///< of the one before
};

[[nodiscard]] Sha256 hash_of(const Meta& meta);

/// Creates the tables in an empty database. One transaction, synced with its folder.
[[nodiscard]] StoreResult<void> make_tables(const Connection& connection);

/// Refuses tables that are not exactly those of its format. Returns the format.
[[nodiscard]] StoreResult<std::int64_t> check_tables(const Connection& connection);

/// Checks tables of an earlier format and upgrades them to the current one. One transaction.
[[nodiscard]] StoreResult<void> upgrade_tables(const Connection& connection);

/// Reads and writes the row, inside the caller's transaction.
class MetaTable {
 public:
  [[nodiscard]] static StoreResult<MetaTable> open(const Connection& connection, OpenMode mode);
  [[nodiscard]] StoreResult<Meta> read();
  [[nodiscard]] StoreResult<void> write(const Meta& meta);

 private:
  std::string path_;
  Statement select_;
  Statement replace_;
};

}  // namespace berth::edges::detail
