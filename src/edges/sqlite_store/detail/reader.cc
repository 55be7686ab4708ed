#include "edges/sqlite_store/detail/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "edges/sqlite_store/detail/narrow.h"
#include "edges/sqlite_store/detail/outcome_row.h"
#include "live/chain/chain.h"
#include "live/chain/field_hash.h"

namespace berth::edges::detail {

StoreResult<std::unique_ptr<SqliteReader>> SqliteReader::open(Connection connection) {
  // cell_size_check: detects a damaged page before it is used.
  auto set = connection.execute(
      "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY",
      "set the connection up");
  if (!set) return tl::unexpected(set.error());
  const auto format = check_tables(connection);
  if (!format) return tl::unexpected(format.error());
  auto reader = std::make_unique<SqliteReader>();
  reader->connection_ = std::move(connection);
  reader->format_ = *format;
  if (auto prepared = reader->prepare(); !prepared) return tl::unexpected(prepared.error());
  return reader;
}

StoreResult<void> SqliteReader::prepare() {
  auto meta = MetaTable::open(connection_, OpenMode::kRead);
  if (!meta) return tl::unexpected(meta.error());
  meta_ = *std::move(meta);
  struct Wanted {
    Statement SqliteReader::* target = nullptr;
    const char* sql = "";
    const char* doing = "";
    std::int64_t since = 1;  ///< the first format that has its table
  };
  for (const Wanted& wanted :
       {Wanted{&SqliteReader::rows_,
               "SELECT sequence, at_us, wall_us, kind, format, body, hash FROM journal WHERE sequence >= ? "
               "ORDER BY sequence LIMIT ?",
               "read rows"},
        Wanted{&SqliteReader::hash_, "SELECT hash FROM journal WHERE sequence = ?", "read a row"},
        Wanted{&SqliteReader::snapshot_, "SELECT format, body, hash FROM snapshots WHERE sequence = ?",
               "read a snapshot"},
        Wanted{&SqliteReader::outcome_, kSelectOutcome, "read an outcome"},
        Wanted{&SqliteReader::outcomes_,
               "SELECT key, request, wall_us, status, body, hash FROM outcomes WHERE key > ? ORDER BY key LIMIT ?",
               "read outcomes"},
        Wanted{&SqliteReader::usage_place_,
               "SELECT gpu, start FROM usage WHERE (gpu, start) > (?, ?) ORDER BY gpu, start LIMIT 1", "read usage",
               kUsageFormat},
        Wanted{&SqliteReader::usage_before_,
               "SELECT from_us FROM usage WHERE gpu = ? AND start = ? AND from_us <= ? ORDER BY from_us DESC LIMIT 1",
               "read usage", kUsageFormat},
        Wanted{&SqliteReader::usage_,
               "SELECT from_us, units, to_us, sequence, body, hash FROM usage WHERE gpu = ? AND start = ? AND "
               "from_us >= ? AND from_us < ? ORDER BY from_us LIMIT ?",
               "read usage", kUsageFormat},
        Wanted{&SqliteReader::blob_,
               "SELECT blob, bytes, parts, used_wall_us, is_whole, hash FROM blobs WHERE blob = ?", "read a blob",
               kBlobFormat},
        Wanted{
            &SqliteReader::blobs_,
            "SELECT blob, bytes, parts, used_wall_us, is_whole, hash FROM blobs WHERE blob > ? ORDER BY blob LIMIT ?",
            "read blobs", kBlobFormat},
        Wanted{&SqliteReader::blob_part_, "SELECT body, hash FROM blob_parts WHERE blob = ? AND part = ?",
               "read a part of a blob", kBlobFormat}}) {
    if (format_ < wanted.since) continue;
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
  snapshot.body = format_ < kBlobFormat ? run.text(1) : run.bytes(1);
  if (run.digest(2) == chain::snapshot_hash(snapshot) && run.is_well_typed()) return snapshot;
  return damaged(connection_.path(), fmt::format("snapshot of row {}: not what was written", snapshot.sequence));
}

StoreResult<std::optional<KeyedOutcome>> SqliteReader::find_outcome(const Sha256& key) {
  return detail::find_outcome(outcome_, key, connection_.path());
}

StoreResult<std::vector<KeyedOutcome>> SqliteReader::read_outcomes(const std::optional<Sha256>& after,
                                                                   std::size_t count_max) {
  return read_page<KeyedOutcome>(outcomes_, after, count_max,
                                 [&](StatementRun& run) { return checked_outcome(run, connection_.path()); });
}

StoreResult<std::vector<UsageRow>> SqliteReader::read_usage(const UsageSpan& span, const std::optional<UsageKey>& after,
                                                            std::size_t count_max) {
  std::vector<UsageRow> rows;
  if (format_ < kUsageFormat || span.from_us >= span.to_us) return rows;
  const auto transaction = Transaction::begin(connection_, Transaction::Kind::kRead);
  if (!transaction) return tl::unexpected(transaction.error());
  Place place;
  if (after) {
    place = {.gpu = after->gpu, .start = after->start};
    if (after->from_us < span.to_us - 1) {
      const std::int64_t next_us = std::max(after->from_us + 1, span.from_us);
      if (auto added = add_usage(place, next_us, span, count_max, rows); !added) return tl::unexpected(added.error());
    }
  }
  while (rows.size() < count_max) {
    const auto next = place_after(place);
    if (!next) return tl::unexpected(next.error());
    if (!*next) break;
    place = **next;
    // The row that began before the span may reach into it; the ones before that end before it begins.
    std::int64_t from_us = span.from_us;
    {
      StatementRun run = usage_before_.run();
      const auto stepped = run.bind(place.gpu).bind(place.start).bind(span.from_us).step();
      if (!stepped) return tl::unexpected(stepped.error());
      if (*stepped) from_us = run.integer(0);
    }
    if (auto added = add_usage(place, from_us, span, count_max, rows); !added) return tl::unexpected(added.error());
  }
  return rows;
}

StoreResult<std::optional<SqliteReader::Place>> SqliteReader::place_after(const Place& place) {
  StatementRun run = usage_place_.run();
  const auto stepped = run.bind(place.gpu).bind(place.start).step();
  if (!stepped) return tl::unexpected(stepped.error());
  if (!*stepped) return std::nullopt;
  const Place next{.gpu = run.integer(0), .start = run.integer(1)};
  if (run.is_well_typed()) return next;
  return damaged(connection_.path(), "usage: a key is not what was written");
}

StoreResult<void> SqliteReader::add_usage(const Place& place, std::int64_t from_us, const UsageSpan& span,
                                          std::size_t count_max, std::vector<UsageRow>& rows) {
  StatementRun run = usage_.run();
  run.bind(place.gpu).bind(place.start).bind(from_us).bind(span.to_us);
  // One more than wanted: the first one may end before the span begins.
  run.bind(std::min<std::uint64_t>(count_max - rows.size(), std::numeric_limits<std::int64_t>::max() - 1) + 1);
  while (rows.size() < count_max) {
    const auto stepped = run.step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (!*stepped) return {};
    auto row = checked_usage(run, place);
    if (!row) return tl::unexpected(row.error());
    if (row->to_us > span.from_us) rows.push_back(*std::move(row));
  }
  return {};
}

StoreResult<UsageRow> SqliteReader::checked_usage(StatementRun& run, const Place& place) const {
  UsageRow row;
  row.key.gpu = static_cast<std::uint32_t>(place.gpu);
  row.key.start = narrow(place.start);
  row.key.from_us = run.integer(0);
  row.units = narrow(run.integer(1));
  row.to_us = run.integer(2);
  row.sequence = run.count(3);
  row.body = run.text(4);
  const bool is_key_whole = row.key.gpu == place.gpu && row.key.start == place.start;
  if (is_key_whole && run.digest(5) == chain::usage_hash(row) && run.is_well_typed()) return row;
  return damaged(connection_.path(), fmt::format("usage of gpu-{}, unit {}, from {} us on: not what was written",
                                                 place.gpu, place.start, row.key.from_us));
}

StoreResult<std::optional<BlobRow>> SqliteReader::find_blob(const Sha256& blob) {
  if (format_ < kBlobFormat) return std::nullopt;
  StatementRun run = blob_.run();
  const auto stepped = run.bind(blob).step();
  if (!stepped) return tl::unexpected(stepped.error());
  if (!*stepped) return std::nullopt;
  auto row = checked_blob(run);
  if (!row) return tl::unexpected(row.error());
  return *row;
}

StoreResult<std::vector<BlobRow>> SqliteReader::read_blobs(const std::optional<Sha256>& after, std::size_t count_max) {
  if (format_ < kBlobFormat) return std::vector<BlobRow>();
  return read_page<BlobRow>(blobs_, after, count_max, [&](StatementRun& run) { return checked_blob(run); });
}

StoreResult<BlobRow> SqliteReader::checked_blob(StatementRun& run) const {
  BlobRow row;
  row.blob = run.digest(0);
  row.bytes = run.count(1);
  const std::int64_t parts = run.integer(2);
  row.part_count = static_cast<std::uint32_t>(parts);
  row.used_wall_us = run.integer(3);
  const std::int64_t is_whole = run.integer(4);
  row.is_whole = is_whole == 1;
  const bool is_exact = row.part_count == parts && (is_whole == 0 || is_whole == 1);
  if (is_exact && run.digest(5) == chain::blob_hash(row) && run.is_well_typed()) return row;
  return damaged(connection_.path(), fmt::format("blob {}: not what was written", chain::hex_of(row.blob)));
}

StoreResult<std::optional<BlobPart>> SqliteReader::read_blob_part(const Sha256& blob, std::uint32_t index) {
  if (format_ < kBlobFormat) return std::nullopt;
  StatementRun run = blob_part_.run();
  const auto stepped = run.bind(blob).bind(std::uint64_t{index}).step();
  if (!stepped) return tl::unexpected(stepped.error());
  if (!*stepped) return std::nullopt;
  BlobPart part{.blob = blob, .index = index, .bytes = run.bytes(0)};
  if (run.digest(1) == chain::blob_part_hash(part) && run.is_well_typed()) return part;
  return damaged(connection_.path(),
                 fmt::format("part {} of blob {}: not what was written", index, chain::hex_of(blob)));
}

}  // namespace berth::edges::detail
