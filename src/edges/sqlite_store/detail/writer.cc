#include "edges/sqlite_store/detail/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "edges/sqlite_store/detail/outcome_row.h"
#include "live/chain/chain.h"

namespace berth::edges::detail {
namespace {

constexpr std::uint64_t kPruneRowsMax = 1000;     // examined by one call, per table; for usage: per place
constexpr std::uint32_t kPruneBlobPartsMax = 16;  // removed by one call
constexpr int kWalFactorMax = 16;  // a WAL of this many times the wanted pages makes an append wait for readers

}  // namespace

StoreResult<std::unique_ptr<SqliteWriter>> SqliteWriter::open(Connection connection, const Settings& settings) {
  auto writer = std::make_unique<SqliteWriter>();
  writer->connection_ = std::move(connection);
  writer->settings_ = settings;
  if (auto prepared = writer->prepare(); !prepared) return tl::unexpected(prepared.error());
  if (auto taken = writer->take_over(); !taken) return tl::unexpected(taken.error());
  return writer;
}

SqliteWriter::~SqliteWriter() {
  const bool is_left = refused_ && !overwrite_refused();
  if (is_left || settings_.checkpoints->is_stopped) connection_.set_checkpoint_on_close(false);
}

StoreResult<void> SqliteWriter::prepare() {
  auto meta = MetaTable::open(connection_, OpenMode::kWrite);
  if (!meta) return tl::unexpected(meta.error());
  meta_ = *std::move(meta);
  struct Wanted {
    Statement SqliteWriter::* target;
    const char* sql;
    const char* doing;
  };
  for (const Wanted& wanted :
       {Wanted{&SqliteWriter::insert_row_, "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?)", "append a row"},
        Wanted{&SqliteWriter::insert_outcome_,
               "INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET wall_us = "
               "excluded.wall_us, status = excluded.status, body = excluded.body, hash = excluded.hash "
               "WHERE body = '' AND status <> 0 AND request = excluded.request",
               "append an outcome"},
        Wanted{&SqliteWriter::select_outcome_, kSelectOutcome, "read an outcome"},
        Wanted{&SqliteWriter::insert_snapshot_, "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)",
               "append a snapshot"},
        Wanted{&SqliteWriter::delete_snapshots_, "DELETE FROM snapshots WHERE sequence NOT IN (?, ?)",
               "remove snapshots"},
        Wanted{&SqliteWriter::select_hash_, "SELECT hash FROM journal WHERE sequence = ?", "read a row"},
        Wanted{&SqliteWriter::delete_rows_, "DELETE FROM journal WHERE sequence <= ?", "prune rows"},
        Wanted{&SqliteWriter::select_outcomes_,
               "SELECT key, request, wall_us, status FROM outcomes WHERE key > ? ORDER BY key LIMIT ?",
               "prune outcomes"},
        Wanted{&SqliteWriter::expire_outcome_, "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?, ?)",
               "expire an outcome"},
        Wanted{&SqliteWriter::delete_outcome_, "DELETE FROM outcomes WHERE key = ?", "prune outcomes"},
        Wanted{&SqliteWriter::insert_usage_, "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?)", "append usage"},
        Wanted{&SqliteWriter::select_usage_gpu_, "SELECT gpu FROM usage WHERE gpu > ? ORDER BY gpu LIMIT 1",
               "prune usage"},
        Wanted{&SqliteWriter::select_usage_start_,
               "SELECT start FROM usage WHERE gpu = ? AND start > ? ORDER BY start LIMIT 1", "prune usage"},
        Wanted{&SqliteWriter::select_usage_,
               "SELECT to_us FROM usage WHERE gpu = ?1 AND start = ?2 AND from_us < ?3 AND to_us <= ?3 "
               "ORDER BY from_us LIMIT 1 OFFSET ?4",
               "prune usage"},
        Wanted{&SqliteWriter::delete_usage_,
               "DELETE FROM usage WHERE gpu = ?1 AND start = ?2 AND from_us < ?3 AND to_us <= ?3", "prune usage"},
        Wanted{&SqliteWriter::replace_blob_, "INSERT OR REPLACE INTO blobs VALUES (?, ?, ?, ?, ?, ?)", "append a blob"},
        Wanted{&SqliteWriter::replace_blob_part_, "INSERT OR REPLACE INTO blob_parts VALUES (?, ?, ?, ?)",
               "append a part of a blob"},
        Wanted{&SqliteWriter::select_blobs_,
               "SELECT blob, bytes, parts, used_wall_us, is_whole FROM blobs WHERE blob > ? ORDER BY blob LIMIT ?",
               "prune blobs"},
        Wanted{&SqliteWriter::select_blob_bytes_,
               "SELECT coalesce(sum(length(body)), 0) FROM blob_parts WHERE blob = ? AND part >= ?", "prune blobs"},
        Wanted{&SqliteWriter::delete_blob_parts_, "DELETE FROM blob_parts WHERE blob = ? AND part >= ?", "prune blobs"},
        Wanted{&SqliteWriter::delete_blob_, "DELETE FROM blobs WHERE blob = ?", "prune blobs"}}) {
    auto statement = connection_.prepare(wanted.sql, wanted.doing);
    if (!statement) return tl::unexpected(statement.error());
    this->*wanted.target = *std::move(statement);
  }
  const auto note_wal_pages = [](void* pages, sqlite3*, const char*, int count) {
    *static_cast<int*>(pages) = count;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(connection_.raw(), note_wal_pages, &wal_pages_);
  return {};
}

StoreResult<void> SqliteWriter::take_over() {
  auto transaction = Transaction::begin(connection_, Transaction::Kind::kWrite);
  if (!transaction) return tl::unexpected(transaction.error());
  auto meta = permitted_meta();
  if (!meta) return tl::unexpected(meta.error());
  if (meta->epoch == settings_.epoch) return {};
  meta->epoch = settings_.epoch;
  return commit(*transaction, *meta);
}

StoreResult<Meta> SqliteWriter::permitted_meta() {
  auto meta = meta_.read();
  if (!meta || meta->epoch <= settings_.epoch) return meta;
  return tl::unexpected(StoreError{
      StoreFault::kDeposed, fmt::format("{}: a writer of epoch {} has taken over; this one is of epoch {}: end it",
                                        connection_.path(), meta->epoch, settings_.epoch)});
}

StoreResult<std::uint64_t> SqliteWriter::append(const JournalBatch& batch) {
  if (auto overwritten = overwrite_refused(); !overwritten) return tl::unexpected(overwritten.error());
  std::uint64_t last = 0;
  {
    auto transaction = Transaction::begin(connection_, Transaction::Kind::kWrite);
    if (!transaction) return tl::unexpected(transaction.error());
    auto meta = permitted_meta();
    if (!meta) return tl::unexpected(meta.error());
    if (auto inserted = insert_rows(batch.entries, *meta); !inserted) return tl::unexpected(inserted.error());
    if (auto inserted = insert_outcomes(batch.outcomes); !inserted) return tl::unexpected(inserted.error());
    if (auto inserted = insert_usage(batch.usage); !inserted) return tl::unexpected(inserted.error());
    if (auto inserted = insert_blobs(batch); !inserted) return tl::unexpected(inserted.error());
    if (batch.snapshot) {
      if (auto inserted = insert_snapshot(*batch.snapshot, *meta); !inserted) return tl::unexpected(inserted.error());
    }
    if (auto committed = commit(*transaction, *meta); !committed) return tl::unexpected(committed.error());
    last = meta->head_sequence;
  }
  checkpoint_if_due();
  return last;
}

StoreResult<void> SqliteWriter::insert_rows(const std::vector<JournalEntry>& entries, Meta& meta) {
  for (const JournalEntry& entry : entries) {
    const std::uint64_t sequence = meta.head_sequence + 1;
    const Sha256 hash = chain::row_hash(meta.head_hash, sequence, entry);
    auto inserted = insert_row_.run()
                        .bind(sequence)
                        .bind(entry.at.micros())
                        .bind(entry.wall_us)
                        .bind(std::string_view(entry.kind))
                        .bind(std::int64_t{entry.format})
                        .bind(std::string_view(entry.body))
                        .bind(hash)
                        .finish();
    if (!inserted) return inserted;
    meta.head_sequence = sequence;
    meta.head_hash = hash;
  }
  return {};
}

StoreResult<void> SqliteWriter::insert_outcomes(const std::vector<KeyedOutcome>& outcomes) {
  for (const KeyedOutcome& outcome : outcomes) {
    if (auto inserted = put(insert_outcome_, outcome); !inserted) return inserted;
    if (sqlite3_changes(connection_.raw()) == 1) continue;
    return tl::unexpected(StoreError{StoreFault::kFailed,
                                     fmt::format("{}: a key of the batch has an outcome already", connection_.path())});
  }
  return {};
}

StoreResult<std::map<Sha256, KeyedOutcome>> SqliteWriter::find_outcomes(const std::vector<Sha256>& keys) {
  const auto transaction = Transaction::begin(connection_, Transaction::Kind::kRead);
  if (!transaction) return tl::unexpected(transaction.error());
  std::map<Sha256, KeyedOutcome> found;
  for (const Sha256& key : keys) {
    auto outcome = find_outcome(select_outcome_, key, connection_.path());
    if (!outcome) return tl::unexpected(outcome.error());
    if (*outcome) found.emplace(key, **std::move(outcome));
  }
  return found;
}

StoreResult<void> SqliteWriter::put(Statement& statement, const KeyedOutcome& outcome) {
  const Sha256 hash = chain::outcome_hash(outcome);
  return statement.run()
      .bind(outcome.key)
      .bind(outcome.request)
      .bind(outcome.wall_us)
      .bind(std::int64_t{outcome.status})
      .bind(std::string_view(outcome.body))
      .bind(hash)
      .finish();
}

StoreResult<void> SqliteWriter::insert_usage(const std::vector<UsageRow>& rows) {
  for (const UsageRow& row : rows) {
    const Sha256 hash = chain::usage_hash(row);
    auto inserted = insert_usage_.run()
                        .bind(std::int64_t{row.key.gpu})
                        .bind(std::int64_t{row.key.start})
                        .bind(row.key.from_us)
                        .bind(std::int64_t{row.units})
                        .bind(row.to_us)
                        .bind(row.sequence)
                        .bind(std::string_view(row.body))
                        .bind(hash)
                        .finish();
    if (!inserted) return inserted;
  }
  return {};
}

StoreResult<void> SqliteWriter::insert_snapshot(const JournalSnapshot& snapshot, Meta& meta) {
  ENSURE(snapshot.sequence <= meta.head_sequence);
  const Sha256 hash = chain::snapshot_hash(snapshot);
  auto inserted = insert_snapshot_.run()
                      .bind(snapshot.sequence)
                      .bind(std::int64_t{snapshot.format})
                      .bind_bytes(snapshot.body)
                      .bind(hash)
                      .finish();
  if (!inserted) return inserted;
  std::vector<std::uint64_t> kept = {meta.older_snapshot_sequence, meta.snapshot_sequence, snapshot.sequence};
  std::ranges::sort(kept, std::greater());
  kept.erase(std::ranges::unique(kept).begin(), kept.end());
  meta.snapshot_sequence = kept[0];
  meta.older_snapshot_sequence = kept.size() > 1 ? kept[1] : 0;
  return delete_snapshots_.run().bind(meta.snapshot_sequence).bind(meta.older_snapshot_sequence).finish();
}

template <class Cursor>
StoreResult<bool> SqliteWriter::prune_part(Cursor& cursor, const auto& change) {
  if (auto overwritten = overwrite_refused(); !overwritten) return tl::unexpected(overwritten.error());
  const Cursor before = cursor;
  const auto in_transaction = [&]() -> StoreResult<bool> {
    auto transaction = Transaction::begin(connection_, Transaction::Kind::kWrite);
    if (!transaction) return tl::unexpected(transaction.error());
    auto meta = permitted_meta();
    if (!meta) return tl::unexpected(meta.error());
    StoreResult<bool> is_changed = change(*meta);
    if (!is_changed || !*is_changed) return is_changed;
    if (auto committed = commit(*transaction, *meta); !committed) return tl::unexpected(committed.error());
    return true;
  };
  auto is_changed = in_transaction();
  if (!is_changed) cursor = before;
  if (is_changed && *is_changed) checkpoint_if_due();
  return is_changed;
}

StoreResult<bool> SqliteWriter::prune(const PruneLimits& limits) {
  bool has_more_rows = false;
  const auto change = [&](Meta& meta) -> StoreResult<bool> {
    const std::uint64_t pruned_before = meta.pruned_sequence;
    auto has_more = prune_rows(limits.rows_before, meta);
    if (!has_more) return has_more;
    has_more_rows = *has_more;
    auto is_changed = prune_outcomes(limits);
    if (!is_changed) return is_changed;
    return *is_changed || meta.pruned_sequence != pruned_before;
  };
  auto changed = prune_part(outcome_round_, change);
  if (!changed) return changed;
  return has_more_rows || outcome_round_.cursor.has_value();
}

StoreResult<bool> SqliteWriter::prune_rows(std::uint64_t before, Meta& meta) {
  const std::uint64_t wanted = std::min(before == 0 ? 0 : before - 1, meta.snapshot_sequence);
  if (wanted <= meta.pruned_sequence) return false;
  const std::uint64_t last = std::min(wanted, meta.pruned_sequence + kPruneRowsMax);
  {
    StatementRun run = select_hash_.run();
    const auto stepped = run.bind(last).step();
    if (!stepped) return tl::unexpected(stepped.error());
    meta.pruned_hash = *stepped ? run.digest(0) : Sha256{};
    if (!*stepped || !run.is_well_typed()) return damaged(connection_.path(), fmt::format("row {}: missing", last));
  }
  if (auto removed = delete_rows_.run().bind(last).finish(); !removed) return tl::unexpected(removed.error());
  meta.pruned_sequence = last;
  return last < wanted;
}

StoreResult<bool> SqliteWriter::prune_outcomes(const PruneLimits& limits) {
  std::vector<KeyedOutcome> old;
  std::uint64_t seen = 0;
  std::optional<Sha256> last;
  {
    StatementRun run = select_outcomes_.run();
    run.bind_after(outcome_round_.cursor).bind(kPruneRowsMax);
    while (true) {
      const auto stepped = run.step();
      if (!stepped) return tl::unexpected(stepped.error());
      if (!*stepped) break;
      ++seen;
      KeyedOutcome outcome{.key = run.digest(0), .request = run.digest(1), .wall_us = run.integer(2), .status = 0};
      const bool is_expired = run.integer(3) == 0;
      if (!run.is_well_typed()) return damaged(connection_.path(), "outcomes: a row is not what was written");
      last = outcome.key;
      if ((!is_expired && is_old(outcome, limits)) || outcome.wall_us < limits.keys_before_wall_us) {
        old.push_back(std::move(outcome));
      } else if (!is_expired) {
        outcome_round_.ages.add(outcome.wall_us);
      }
    }
  }
  for (const KeyedOutcome& outcome : old) {
    const bool is_forgotten = outcome.wall_us < limits.keys_before_wall_us;
    auto changed = is_forgotten ? delete_outcome_.run().bind(outcome.key).finish() : put(expire_outcome_, outcome);
    if (!changed) return tl::unexpected(changed.error());
  }
  outcome_round_.cursor = seen == kPruneRowsMax ? last : std::nullopt;
  if (!outcome_round_.cursor) outcomes_cut_us_ = std::exchange(outcome_round_.ages, {}).cut_for(limits.outcomes_max);
  return !old.empty();
}

bool SqliteWriter::is_old(const KeyedOutcome& outcome, const PruneLimits& limits) const {
  return outcome.wall_us < std::max(limits.outcomes_before_wall_us, outcomes_cut_us_);
}

StoreResult<bool> SqliteWriter::prune_usage(std::int64_t before_us) {
  auto changed = prune_part(usage_cursor_, [&](Meta&) { return remove_usage(before_us); });
  if (!changed) return changed;
  return usage_cursor_.has_value();
}

StoreResult<bool> SqliteWriter::remove_usage(std::int64_t before_us) {
  std::int64_t budget = kPruneRowsMax;
  bool is_removed = false;
  while (budget > 0) {
    const auto gpu = next_usage_gpu(usage_cursor_.value_or(-1));
    if (!gpu) return tl::unexpected(gpu.error());
    if (!*gpu) {
      usage_cursor_.reset();
      return is_removed;
    }
    const auto starts = usage_starts(**gpu);
    if (!starts) return tl::unexpected(starts.error());
    const auto cut_us = usage_cut(**gpu, *starts, before_us);
    if (!cut_us) return tl::unexpected(cut_us.error());
    const auto removed = delete_usage(**gpu, *starts, *cut_us);
    if (!removed) return tl::unexpected(removed.error());
    is_removed = is_removed || *removed > 0;
    budget -= *removed + static_cast<std::int64_t>(starts->size());
    usage_cursor_ = *cut_us == before_us ? **gpu : **gpu - 1;
  }
  return is_removed;
}

StoreResult<std::optional<std::int64_t>> SqliteWriter::next_usage_gpu(std::int64_t gpu) {
  StatementRun run = select_usage_gpu_.run();
  const auto stepped = run.bind(gpu).step();
  if (!stepped) return tl::unexpected(stepped.error());
  if (!*stepped) return std::nullopt;
  const std::int64_t next = run.integer(0);
  if (!run.is_well_typed()) return damaged(connection_.path(), "usage: a key is not what was written");
  return next;
}

StoreResult<std::vector<std::int64_t>> SqliteWriter::usage_starts(std::int64_t gpu) {
  std::vector<std::int64_t> starts;
  while (true) {
    StatementRun run = select_usage_start_.run();
    const auto stepped = run.bind(gpu).bind(starts.empty() ? std::int64_t{-1} : starts.back()).step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (!*stepped) return starts;
    starts.push_back(run.integer(0));
    if (!run.is_well_typed()) return damaged(connection_.path(), "usage: a key is not what was written");
  }
}

StoreResult<std::int64_t> SqliteWriter::usage_cut(std::int64_t gpu, const std::vector<std::int64_t>& starts,
                                                  std::int64_t before_us) {
  std::int64_t cut_us = before_us;
  for (const std::int64_t start : starts) {
    StatementRun run = select_usage_.run();
    const auto stepped = run.bind(gpu).bind(start).bind(cut_us).bind(kPruneRowsMax - 1).step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (*stepped) cut_us = run.integer(0);
    if (!run.is_well_typed()) return damaged(connection_.path(), "usage: a row is not what was written");
  }
  return cut_us;
}

StoreResult<std::int64_t> SqliteWriter::delete_usage(std::int64_t gpu, const std::vector<std::int64_t>& starts,
                                                     std::int64_t cut_us) {
  std::int64_t removed = 0;
  for (const std::int64_t start : starts) {
    if (auto done = delete_usage_.run().bind(gpu).bind(start).bind(cut_us).finish(); !done)
      return tl::unexpected(done.error());
    removed += sqlite3_changes(connection_.raw());
  }
  return removed;
}

StoreResult<void> SqliteWriter::insert_blobs(const JournalBatch& batch) {
  for (const BlobPart& part : batch.blob_parts) {
    const Sha256 hash = chain::blob_part_hash(part);
    auto inserted = replace_blob_part_.run()
                        .bind(part.blob)
                        .bind(std::uint64_t{part.index})
                        .bind_bytes(part.bytes)
                        .bind(hash)
                        .finish();
    if (!inserted) return inserted;
  }
  for (const BlobRow& row : batch.blobs) {
    if (auto inserted = put(row); !inserted) return inserted;
  }
  return {};
}

StoreResult<void> SqliteWriter::put(const BlobRow& row) {
  const Sha256 hash = chain::blob_hash(row);
  return replace_blob_.run()
      .bind(row.blob)
      .bind(row.bytes)
      .bind(std::uint64_t{row.part_count})
      .bind(row.used_wall_us)
      .bind(std::int64_t{row.is_whole ? 1 : 0})
      .bind(hash)
      .finish();
}

StoreResult<bool> SqliteWriter::prune_blobs(const BlobUse& use) {
  std::uint32_t budget = kPruneBlobPartsMax;
  auto changed = prune_part(blob_cursor_, [&](Meta&) { return prune_next_blobs(use, budget); });
  if (!changed) return changed;
  return budget == 0 || blob_cursor_.has_value();
}

StoreResult<bool> SqliteWriter::prune_next_blobs(const BlobUse& use, std::uint32_t& budget) {
  const auto rows = next_blobs();
  if (!rows) return tl::unexpected(rows.error());
  bool is_changed = false;
  for (BlobRow row : *rows) {
    if (use.used.contains(row.blob)) {
      if (row.used_wall_us < use.note_before_wall_us) {
        row.used_wall_us = use.now_wall_us;
        if (auto noted = put(row); !noted) return tl::unexpected(noted.error());
        is_changed = true;
      }
    } else if (row.used_wall_us < use.unused_before_wall_us) {
      const auto is_gone = remove_blob(row, budget);
      if (!is_gone) return tl::unexpected(is_gone.error());
      is_changed = true;
      if (!*is_gone || budget == 0) return true;  // the next call continues here
    }
    blob_cursor_ = row.blob;
  }
  if (rows->size() < kPruneRowsMax) blob_cursor_.reset();
  return is_changed;
}

StoreResult<std::vector<BlobRow>> SqliteWriter::next_blobs() {
  const auto read = [&](StatementRun& run) -> StoreResult<BlobRow> {
    const BlobRow row{.blob = run.digest(0),
                      .bytes = run.count(1),
                      .part_count = static_cast<std::uint32_t>(run.integer(2)),
                      .used_wall_us = run.integer(3),
                      .is_whole = run.integer(4) == 1};
    if (!run.is_well_typed()) return damaged(connection_.path(), "blobs: a row is not what was written");
    return row;
  };
  return read_page<BlobRow>(select_blobs_, blob_cursor_, kPruneRowsMax, read);
}

StoreResult<bool> SqliteWriter::remove_blob(BlobRow row, std::uint32_t& budget) {
  const std::uint32_t count = std::min(row.part_count, budget);
  row.part_count -= count;
  row.is_whole = false;
  budget -= count;
  {
    StatementRun run = select_blob_bytes_.run();
    const auto stepped = run.bind(row.blob).bind(std::uint64_t{row.part_count}).step();
    if (!stepped) return tl::unexpected(stepped.error());
    row.bytes -= run.count(0);
  }
  auto removed = delete_blob_parts_.run().bind(row.blob).bind(std::uint64_t{row.part_count}).finish();
  if (!removed) return tl::unexpected(removed.error());
  const bool is_gone = row.part_count == 0;
  auto done = is_gone ? delete_blob_.run().bind(row.blob).finish() : put(row);
  if (!done) return tl::unexpected(done.error());
  return is_gone;
}

StoreResult<void> SqliteWriter::commit(Transaction& transaction, Meta meta) {
  ++meta.revision;
  if (auto written = meta_.write(meta); !written) return written;
  auto committed = transaction.commit();
  if (committed) return {};
  refused_ = hash_of(meta);
  transaction.roll_back();
  static_cast<void>(overwrite_refused());  // if it fails, too, the next append retries
  return committed;
}

StoreResult<void> SqliteWriter::overwrite_refused() {
  if (!refused_) return {};
  auto transaction = Transaction::begin(connection_, Transaction::Kind::kWrite);
  if (!transaction) return tl::unexpected(transaction.error());
  auto meta = meta_.read();
  if (!meta) return tl::unexpected(meta.error());
  if (hash_of(*meta) == *refused_) {
    return tl::unexpected(
        StoreError{StoreFault::kFailed,
                   fmt::format("{}: a batch that was refused is there: start the program again", connection_.path())});
  }
  if (meta->epoch > settings_.epoch) {  // a commit of another writer has overwritten it
    refused_.reset();
    return {};
  }
  // Incremented by two, so that it differs from every refused commit.
  meta->revision += 2;
  if (auto written = meta_.write(*meta); !written) return written;
  if (auto committed = transaction->commit(); !committed) return committed;
  refused_.reset();
  return {};
}

void SqliteWriter::checkpoint_if_due() {
  if (wal_pages_ < settings_.checkpoint_pages) return;
  const bool is_urgent = wal_pages_ >= kWalFactorMax * settings_.checkpoint_pages;
  checkpoint(connection_, is_urgent ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE, *settings_.checkpoints);
}

void checkpoint(const Connection& connection, int mode, Checkpoints& checkpoints) {
  if (checkpoints.is_stopped) return;
  int pages = -1;
  int copied = -1;
  const int code = sqlite3_wal_checkpoint_v2(connection.raw(), "main", mode, &pages, &copied) & 0xff;
  if (code == SQLITE_OK || code == SQLITE_BUSY) {
    if (pages >= 0) checkpoints.is_partial = copied < pages;
  } else if (checkpoints.is_partial) {
    checkpoints.is_stopped = true;
  }
}

}  // namespace berth::edges::detail
