/// The tables of a ledger file: batches, their texts in pieces, and the one row with the end of the chain. Tables with
/// other names, which can be rebuilt from these, may exist next to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/inspect.h"
#include "edges/sqlite_store/ledger_file.h"

namespace berth::edges::detail {

inline constexpr WantedDatabase kWantedLedger{.owner = {.application_id = 0x4272744c, .format = 1},  // "BrtL"
                                              .name = "a ledger"};

/// A row with a piece of at most this many bytes fits into one page: SQLite finds it without a chain of pages.
inline constexpr std::size_t kLedgerPageBytes = 16384;
inline constexpr std::size_t kLedgerPieceBytes = kLedgerPageBytes - 80;

/// A row of `batches`, without its own hash.
struct LedgerBatchRow {
  std::uint64_t number = 0;  ///< from 1
  std::uint64_t run = 0;
  std::uint64_t first_line = 0;  ///< of the ledger, from 1
  std::uint64_t lines = 0;
  std::uint64_t first_position = 0;
  std::uint64_t bytes = 0;
  LedgerSource taken;
  Sha256 text_hash{};  ///< over the hashes of its pieces
};

/// Over the hash of the batch before (zeros before the first) and all columns.
[[nodiscard]] Sha256 hash_of(const Sha256& previous, const LedgerBatchRow& row);
/// Of a row of `texts`.
[[nodiscard]] Sha256 hash_of_piece(std::uint64_t position, std::string_view text);
/// Of the row of `head`.
[[nodiscard]] Sha256 hash_of(const LedgerHead& head);

/// Makes the tables in an empty database, and an empty ledger. One transaction, synced with its folder.
[[nodiscard]] StoreResult<void> make_ledger_tables(const Connection& connection);
/// Refuses tables that are not exactly ours.
[[nodiscard]] StoreResult<void> check_ledger_tables(const Connection& connection);

}  // namespace berth::edges::detail
