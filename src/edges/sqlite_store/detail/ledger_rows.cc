#include "edges/sqlite_store/detail/ledger_rows.h"

#include <fmt/format.h>

#include <utility>

#include "live/chain/field_hash.h"

namespace berth::edges::detail {
namespace {

/// The size of the first piece: as many lines as fit in one, but at least one.
std::size_t piece_size(std::string_view text) {
  if (text.size() <= kLedgerPieceBytes) return text.size();
  const std::size_t last = text.rfind('\n', kLedgerPieceBytes - 1);
  return (last == std::string_view::npos ? text.find('\n') : last) + 1;
}

std::string name_of(const LedgerBatchRow& row) {
  return fmt::format("batch {} (lines {} to {})", row.number, row.first_line, row.first_line + row.lines - 1);
}

/// The name of the batch after `reached`, whose own row may be damaged.
std::string name_of_next(const LedgerHead& reached) {
  return fmt::format("batch {} (from line {} on)", reached.batches + 1, reached.lines + 1);
}

/// The error, with the batch that was being read.
tl::unexpected<StoreError> failed_in(const std::string& batch, const StoreError& error) {
  return tl::unexpected(StoreError{error.fault, fmt::format("{}: {}", error.message, batch)});
}

chain::FieldHash begin_text_hash() { return chain::FieldHash("ledger texts 1"); }

}  // namespace

StoreResult<LedgerRows> LedgerRows::open(const Connection& connection) {
  LedgerRows rows;
  rows.path_ = connection.path();
  struct Wanted {
    Statement LedgerRows::* target;
    const char* sql;
    const char* doing;
  };
  for (const Wanted& wanted :
       {Wanted{&LedgerRows::select_head_, "SELECT batches, lines, bytes, run, batch_hash, hash FROM head WHERE id = 1",
               "read the head"},
        Wanted{&LedgerRows::replace_head_, "INSERT OR REPLACE INTO head VALUES (1, ?, ?, ?, ?, ?, ?)",
               "write the head"},
        Wanted{&LedgerRows::select_batch_, "SELECT * FROM batches WHERE number = ?", "read a batch"},
        Wanted{&LedgerRows::insert_batch_, "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
               "append a batch"},
        Wanted{&LedgerRows::select_texts_,
               "SELECT position, text, hash FROM texts WHERE position >= ? AND position < ? ORDER BY position",
               "read a text"},
        Wanted{&LedgerRows::select_piece_,
               "SELECT position, text, hash FROM texts WHERE position <= ? ORDER BY position DESC LIMIT 1",
               "read a line"},
        Wanted{&LedgerRows::insert_text_, "INSERT INTO texts VALUES (?, ?, ?)", "append a text"}}) {
    auto statement = connection.prepare(wanted.sql, wanted.doing);
    if (!statement) return tl::unexpected(statement.error());
    rows.*wanted.target = *std::move(statement);
  }
  return rows;
}

StoreResult<LedgerHead> LedgerRows::read_head() {
  StatementRun run = select_head_.run();
  const auto stepped = run.step();
  if (!stepped) return tl::unexpected(stepped.error());
  if (!*stepped) return damaged(path_, "head: its row is missing");
  const LedgerHead head{.batches = run.count(0),
                        .lines = run.count(1),
                        .bytes = run.count(2),
                        .run = run.count(3),
                        .hash = run.digest(4)};
  const Sha256 hash = run.digest(5);
  if (run.is_well_typed() && hash == hash_of(head)) return head;
  return damaged(path_, "head: not what was written");
}

StoreResult<void> LedgerRows::write_head(const LedgerHead& head) {
  const Sha256 hash = hash_of(head);
  return replace_head_.run()
      .bind(head.batches)
      .bind(head.lines)
      .bind(head.bytes)
      .bind(head.run)
      .bind(head.hash)
      .bind(hash)
      .finish();
}

StoreResult<LedgerBatchRow> LedgerRows::read_batch_behind(LedgerHead& reached) {
  StatementRun run = select_batch_.run();
  const auto stepped = run.bind(reached.batches + 1).step();
  if (!stepped) return failed_in(name_of_next(reached), stepped.error());
  if (!*stepped) return damaged(path_, fmt::format("{}: missing", name_of_next(reached)));
  LedgerBatchRow row{.number = run.count(0),
                     .run = run.count(1),
                     .first_line = run.count(2),
                     .lines = run.count(3),
                     .first_position = run.count(4),
                     .bytes = run.count(5),
                     .taken = {.bytes = run.count(6), .lines = run.count(7), .hash = run.digest(8)},
                     .text_hash = run.digest(9)};
  const Sha256 hash = run.digest(10);
  const bool is_next = row.first_line == reached.lines + 1 && row.first_position == reached.bytes;
  if (!run.is_well_typed() || hash != hash_of(reached.hash, row) || !is_next) {
    return damaged(path_, fmt::format("{}: not what was written", name_of_next(reached)));
  }
  reached = {.batches = row.number,
             .lines = reached.lines + row.lines,
             .bytes = reached.bytes + row.bytes,
             .run = row.run,
             .hash = hash};
  return row;
}

tl::unexpected<StoreError> LedgerRows::damaged_batch(const LedgerBatchRow& row, std::string_view what) const {
  return damaged(path_, fmt::format("{}: {}", name_of(row), what));
}

StoreResult<bool> LedgerRows::read_texts(const LedgerBatchRow& row,
                                         const std::function<bool(std::string_view)>& visit) {
  const std::uint64_t end = row.first_position + row.bytes;
  StatementRun run = select_texts_.run();
  run.bind(row.first_position).bind(end);
  chain::FieldHash hashes = begin_text_hash();
  std::uint64_t position = row.first_position;
  while (true) {
    const auto stepped = run.step();
    if (!stepped) return failed_in(name_of(row), stepped.error());
    if (!*stepped) break;
    const std::uint64_t found = run.count(0);
    const std::string_view text = run.bytes_view(1);
    const Sha256 hash = run.digest(2);
    if (!run.is_well_typed() || found != position || hash != hash_of_piece(found, text)) {
      return damaged_batch(row, fmt::format("the text at byte {} is not what was written", position));
    }
    hashes.add(hash);
    position += text.size();
    if (!visit(text)) return false;
  }
  if (position == end && hashes.finish() == row.text_hash) return true;
  return damaged_batch(row, fmt::format("its text is not what was written, {} of {} bytes were found",
                                        position - row.first_position, row.bytes));
}

StoreResult<LedgerRows::Piece> LedgerRows::read_piece(std::uint64_t byte) {
  StatementRun run = select_piece_.run();
  const auto stepped = run.bind(byte).step();
  if (!stepped) return tl::unexpected(stepped.error());
  if (!*stepped) return Piece();
  const std::uint64_t position = run.count(0);
  const std::string_view text = run.bytes_view(1);
  const Sha256 hash = run.digest(2);
  if (!run.is_well_typed() || hash != hash_of_piece(position, text)) {
    return damaged(path_, fmt::format("the text at byte {} is not what was written", position));
  }
  if (byte - position >= text.size()) return Piece();
  return Piece{.position = position, .text = std::string(text)};
}

StoreResult<void> LedgerRows::append(const LedgerBatch& batch, const LedgerHead& head) {
  const auto text_hash = insert_texts(batch.text, head.bytes);
  if (!text_hash) return tl::unexpected(text_hash.error());
  const LedgerBatchRow row{.number = head.batches + 1,
                           .run = batch.run,
                           .first_line = head.lines + 1,
                           .lines = batch.lines,
                           .first_position = head.bytes,
                           .bytes = batch.text.size(),
                           .taken = batch.source,
                           .text_hash = *text_hash};
  const Sha256 hash = hash_of(head.hash, row);
  if (auto done = insert_batch(row, hash); !done) return done;
  return write_head({.batches = row.number,
                     .lines = head.lines + row.lines,
                     .bytes = head.bytes + row.bytes,
                     .run = row.run,
                     .hash = hash});
}

StoreResult<Sha256> LedgerRows::insert_texts(std::string_view text, std::uint64_t first_position) {
  chain::FieldHash hashes = begin_text_hash();
  std::uint64_t position = first_position;
  while (!text.empty()) {
    const std::string_view next = text.substr(0, piece_size(text));
    const Sha256 hash = hash_of_piece(position, next);
    hashes.add(hash);
    if (auto done = insert_text_.run().bind(position).bind_bytes(next).bind(hash).finish(); !done) {
      return tl::unexpected(done.error());
    }
    position += next.size();
    text.remove_prefix(next.size());
  }
  return hashes.finish();
}

StoreResult<void> LedgerRows::insert_batch(const LedgerBatchRow& row, const Sha256& hash) {
  return insert_batch_.run()
      .bind(row.number)
      .bind(row.run)
      .bind(row.first_line)
      .bind(row.lines)
      .bind(row.first_position)
      .bind(row.bytes)
      .bind(row.taken.bytes)
      .bind(row.taken.lines)
      .bind(row.taken.hash)
      .bind(row.text_hash)
      .bind(hash)
      .finish();
}

}  // namespace berth::edges::detail
