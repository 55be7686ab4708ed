/// Reads and writes the rows of a ledger file. What it returns is checked against its hash.
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
  /// Of a connection that stays open as long, whose tables are there.
  [[nodiscard]] static StoreResult<LedgerRows> open(const Connection& connection);

  [[nodiscard]] StoreResult<LedgerHead> read_head();
  /// The batch behind those that were reached, checked with them; `reached` is then behind it.
  [[nodiscard]] StoreResult<LedgerBatchRow> read_batch_behind(LedgerHead& reached);
  /// Visits the pieces of a batch's text in order, each after its check, until one is answered with false; whether none
  /// was.
  [[nodiscard]] StoreResult<bool> read_texts(const LedgerBatchRow& row,
                                             const std::function<bool(std::string_view)>& visit);
  struct Piece {
    std::uint64_t position = 0;
    std::string text = {};
    [[nodiscard]] bool holds(std::uint64_t byte) const { return byte >= position && byte - position < text.size(); }
  };
  /// The one that holds that byte; an empty one if none does.
  [[nodiscard]] StoreResult<Piece> read_piece(std::uint64_t byte);

  /// Inside the caller's transaction: appends to a ledger that ends with `head`.
  [[nodiscard]] StoreResult<void> append(const LedgerBatch& batch, const LedgerHead& head);

  /// kDamaged, with the batch and its lines.
  [[nodiscard]] tl::unexpected<StoreError> damaged_batch(const LedgerBatchRow& row, std::string_view what) const;

 private:
  /// Returns the hash over the hashes of its pieces.
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
