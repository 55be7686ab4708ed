#include "edges/sqlite_store/detail/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "journal_chain/chain.h"

namespace berth::edges::detail {
namespace {

/// A stored number that should fit into an int: one that does not is damaged, and gives another hash.
int narrow(std::int64_t value) {
  return static_cast<int>(
      std::clamp<std::int64_t>(value, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

}  // namespace

StoreResult<std::unique_ptr<SqliteReader>> SqliteReader::open(Connection connection) {
  // cell_size_check: a page that is damaged is noticed before it is used.
  auto set = connection.execute(
      "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY",
      "set the connection up");
  if (!set) return tl::unexpected(set.error());
  if (auto checked = check_tables(connection); !checked) return tl::unexpected(checked.error());
  auto reader = std::make_unique<SqliteReader>();
  reader->connection_ = std::move(connection);
  if (auto prepared = reader->prepare(); !prepared) return tl::unexpected(prepared.error());
  return reader;
}

StoreResult<void> SqliteReader::prepare() {
  auto meta = MetaTable::open(connection_, OpenMode::kRead);
  if (!meta) return tl::unexpected(meta.error());
  meta_ = *std::move(meta);
  struct Wanted {
    Statement SqliteReader::* target;
    const char* sql;
    const char* doing;
  };
  for (const Wanted& wanted :
       {Wanted{&SqliteReader::rows_,
               "SELECT sequence, at_us, wall_us, kind, format, body, hash FROM journal WHERE sequence >= ? "
               "ORDER BY sequence LIMIT ?",
               "read rows"},
        Wanted{&SqliteReader::hash_, "SELECT hash FROM journal WHERE sequence = ?", "read a row"},
        Wanted{&SqliteReader::snapshot_, "SELECT format, body, hash FROM snapshots WHERE sequence = ?",
               "read a snapshot"},
        Wanted{&SqliteReader::outcome_, "SELECT key, request, wall_us, status, body, hash FROM outcomes WHERE key = ?",
               "read an outcome"},
        Wanted{&SqliteReader::outcomes_,
               "SELECT key, request, wall_us, status, body, hash FROM outcomes WHERE key > ? ORDER BY key LIMIT ?",
               "read outcomes"}}) {
    auto statement = connection_.prepare(wanted.sql, wanted.doing);
    if (!statement) return tl::unexpected(statement.error());
    this->*wanted.target = *std::move(statement);
  }
  return {};
}

StoreResult<JournalReader::Range> SqliteReader::range() {
  const auto transaction = Transaction::begin(connection_, Transaction::Kind::kRead);
  if (!transaction) return tl::unexpected(transaction.error());
  const auto meta = meta_.read();
  if (!meta) return tl::unexpected(meta.error());
  if (meta->head_sequence == meta->pruned_sequence) return Range{};
  return Range{meta->pruned_sequence + 1, meta->head_sequence};
}

StoreResult<std::vector<JournalRow>> SqliteReader::read(std::uint64_t from, std::size_t count_max) {
  const auto transaction = Transaction::begin(connection_, Transaction::Kind::kRead);
  if (!transaction) return tl::unexpected(transaction.error());
  const auto meta = meta_.read();
  if (!meta) return tl::unexpected(meta.error());
  from = std::max(from, meta->pruned_sequence + 1);
  std::vector<JournalRow> rows;
  if (from > meta->head_sequence) return rows;
  const std::uint64_t wanted = std::min<std::uint64_t>(count_max, meta->head_sequence - from + 1);
  auto previous = hash_before(*meta, from);
  if (!previous) return tl::unexpected(previous.error());
  StatementRun run = rows_.run();
  run.bind(from).bind(wanted);
  while (rows.size() < wanted) {
    const auto stepped = run.step();
    if (!stepped) return tl::unexpected(stepped.error());
    const std::uint64_t sequence = from + rows.size();
    if (!*stepped) return damaged(connection_.path(), fmt::format("row {}: missing", sequence));
    auto row = checked_row(run, sequence, *previous);
    if (!row) return tl::unexpected(row.error());
    previous = row->hash;
    rows.push_back(*std::move(row));
  }
  if (!rows.empty() && rows.back().sequence == meta->head_sequence && rows.back().hash != meta->head_hash) {
    return damaged(connection_.path(), fmt::format("row {}: not the last row that was written", meta->head_sequence));
  }
  return rows;
}

StoreResult<Sha256> SqliteReader::hash_before(const Meta& meta, std::uint64_t from) {
  if (from == meta.pruned_sequence + 1) return meta.pruned_hash;
  StatementRun run = hash_.run();
  const auto stepped = run.bind(from - 1).step();
  if (!stepped) return tl::unexpected(stepped.error());
  if (!*stepped) return damaged(connection_.path(), fmt::format("row {}: missing", from - 1));
  return run.digest(0);
}

StoreResult<JournalRow> SqliteReader::checked_row(StatementRun& run, std::uint64_t wanted,
                                                  const Sha256& previous) const {
  JournalRow row;
  row.sequence = run.count(0);
  if (row.sequence != wanted) {
    return damaged(connection_.path(), fmt::format("row {}: missing, row {} follows", wanted, row.sequence));
  }
  row.entry.at = Instant(run.integer(1));
  row.entry.wall_us = run.integer(2);
  row.entry.kind = run.text(3);
  row.entry.format = narrow(run.integer(4));
  row.entry.body = run.text(5);
  row.hash = run.digest(6);
  if (run.is_well_typed() && row.hash == chain::row_hash(previous, row.sequence, row.entry)) return row;
  return damaged(connection_.path(),
                 fmt::format("row {}: its hash does not fit its content and the row before", wanted));
}

StoreResult<std::optional<JournalSnapshot>> SqliteReader::latest_snapshot() {
  return snapshot(&Meta::snapshot_sequence);
}

StoreResult<std::optional<JournalSnapshot>> SqliteReader::older_snapshot() {
  return snapshot(&Meta::older_snapshot_sequence);
}

StoreResult<std::optional<JournalSnapshot>> SqliteReader::snapshot(std::uint64_t Meta::* sequence) {
  const auto transaction = Transaction::begin(connection_, Transaction::Kind::kRead);
  if (!transaction) return tl::unexpected(transaction.error());
  const auto meta = meta_.read();
  if (!meta) return tl::unexpected(meta.error());
  JournalSnapshot snapshot;
  snapshot.sequence = *meta.*sequence;
  if (snapshot.sequence == 0) return std::nullopt;
  StatementRun run = snapshot_.run();
  const auto stepped = run.bind(snapshot.sequence).step();
  if (!stepped) return tl::unexpected(stepped.error());
  if (!*stepped) return damaged(connection_.path(), fmt::format("snapshot of row {}: missing", snapshot.sequence));
  snapshot.format = narrow(run.integer(0));
  snapshot.body = run.text(1);
  if (run.digest(2) == chain::snapshot_hash(snapshot) && run.is_well_typed()) return snapshot;
  return damaged(connection_.path(), fmt::format("snapshot of row {}: not what was written", snapshot.sequence));
}

StoreResult<std::optional<KeyedOutcome>> SqliteReader::find_outcome(const Sha256& key) {
  StatementRun run = outcome_.run();
  const auto stepped = run.bind(key).step();
  if (!stepped) return tl::unexpected(stepped.error());
  if (!*stepped) return std::nullopt;
  auto outcome = checked_outcome(run);
  if (!outcome) return tl::unexpected(outcome.error());
  return *std::move(outcome);
}

StoreResult<std::vector<KeyedOutcome>> SqliteReader::read_outcomes(const std::optional<Sha256>& after,
                                                                   std::size_t count_max) {
  std::vector<KeyedOutcome> outcomes;
  StatementRun run = outcomes_.run();
  if (after) {
    run.bind(*after);
  } else {
    run.bind_empty();
  }
  run.bind(std::min<std::uint64_t>(count_max, std::numeric_limits<std::int64_t>::max()));
  while (true) {
    const auto stepped = run.step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (!*stepped) return outcomes;
    auto outcome = checked_outcome(run);
    if (!outcome) return tl::unexpected(outcome.error());
    outcomes.push_back(*std::move(outcome));
  }
}

StoreResult<KeyedOutcome> SqliteReader::checked_outcome(StatementRun& run) const {
  KeyedOutcome outcome;
  outcome.key = run.digest(0);
  outcome.request = run.digest(1);
  outcome.wall_us = run.integer(2);
  outcome.status = narrow(run.integer(3));
  outcome.body = run.text(4);
  if (run.digest(5) == chain::outcome_hash(outcome) && run.is_well_typed()) return outcome;
  std::string key;
  for (const std::uint8_t byte : outcome.key) key += fmt::format("{:02x}", byte);
  return damaged(connection_.path(), fmt::format("outcome of key {}: not what was written", key));
}

}  // namespace berth::edges::detail
