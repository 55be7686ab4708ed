/// Reads and writes the rows of a ledger file. Returned rows are checked against their hashes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/ledger_tables.h"
#include "edges/sqlite_store/ledger_file.h"

namespace berth::edges::detail {

class LedgerRows {
 public:
  /// Requires: the connection outlives this, and its tables exist.
  [[nodiscard]] static StoreResult<LedgerRows> open(const Connection& connection);

  [[nodiscard]] StoreResult<LedgerHead> read_head();
  /// The batch after `reached`, checked against its chain; then advances `reached` past it.
  [[nodiscard]] StoreResult<LedgerBatchRow> read_batch_behind(LedgerHead& reached);
  /// Visits the pieces of a batch's text in order, each after its check, until a visit returns false. Returns whether
  /// none did.
  [[nodiscard]] StoreResult<bool> read_texts(const LedgerBatchRow& row,
                                             const std::function<bool(std::string_view)>& visit);
  struct Piece {
    std::uint64_t position = 0;
    std::string text = {};
    [[nodiscard]] bool holds(std::uint64_t byte) const { return byte >= position && byte - position < text.size(); }
  };
  /// The piece that contains that byte; empty if none does.
  [[nodiscard]] StoreResult<Piece> read_piece(std::uint64_t byte);

  /// Inside the caller's transaction: appends to a ledger that ends with `head`.
  [[nodiscard]] StoreResult<void> append(const LedgerBatch& batch, const LedgerHead& head);

  /// kDamaged, with the batch and its lines.
  [[nodiscard]] tl::unexpected<StoreError> damaged_batch(const LedgerBatchRow& row, std::string_view what) const;

 private:
  /// Inserts a text in pieces. Returns the hash over their hashes.
  StoreResult<Sha256> insert_texts(std::string_view text, std::uint64_t first_position);
  StoreResult<void> insert_batch(const LedgerBatchRow& row, const Sha256& hash);
  StoreResult<void> write_head(const LedgerHead& head);

  std::string path_;
  Statement select_head_;
  Statement replace_head_;
  Statement select_batch_;
  Statement insert_batch_;
  Statement select_texts_;
  Statement select_piece_;
  Statement insert_text_;
};

}  // namespace berth::edges::detail
