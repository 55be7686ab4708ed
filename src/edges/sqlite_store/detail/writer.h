/// Appends to a journal on a connection of its own.
///
/// A commit that fails may have put its pages into the WAL, with the mark of a commit: only the sync failed, say.
/// SQLite does not show them, and the next commit overwrites them; but if the process ended before, the recovery of the
/// next one would take them for committed. So a failed commit is followed at once by a small one, which overwrites its
/// beginning, and nothing is appended before that has succeeded. The connection stays open meanwhile, as closing it
/// could end in such a recovery. If the device refuses that commit too, and everything after, a restart may find the
/// batch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "domain/ports/journal_store.h"
#include "edges/sqlite_store/detail/age_counts.h"
#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/tables.h"

namespace berth::edges::detail {

/// What is known of the checkpoints of a store. One that readers kept from completing has copied pages that are not
/// synced yet. If the sync of a later one then fails, the system may have lost them, and SQLite would not copy them
/// again before the WAL's index is made anew: so there is no further checkpoint until the store is opened again.
struct Checkpoints {
  bool is_partial = true;   ///< pages were copied, and not synced; or not known
  bool is_stopped = false;  ///< the WAL must stay, also when its last connection closes
};

/// Copies the WAL's pages into the file, as far as readers let it. A failure loses nothing: the WAL stays.
void checkpoint(const Connection& connection, int mode, Checkpoints& checkpoints);

class SqliteWriter : public JournalWriter {
 public:
  SqliteWriter() = default;  ///< for `open`
  struct Settings {
    std::uint64_t epoch = 0;
    int checkpoint_pages = 0;
    Checkpoints* checkpoints = nullptr;  ///< of the store, which outlives the writer
  };
  /// Takes over a connection, and takes the store over from writers of lower epochs.
  [[nodiscard]] static StoreResult<std::unique_ptr<SqliteWriter>> open(Connection connection, const Settings& settings);
  SqliteWriter(const SqliteWriter&) = delete;
  SqliteWriter& operator=(const SqliteWriter&) = delete;
  ~SqliteWriter() override;

  [[nodiscard]] StoreResult<std::uint64_t> append(const JournalBatch& batch) override;
  [[nodiscard]] StoreResult<std::map<Sha256, KeyedOutcome>> find_outcomes(const std::vector<Sha256>& keys) override;
  [[nodiscard]] StoreResult<bool> prune(const PruneLimits& limits) override;
  [[nodiscard]] StoreResult<bool> prune_usage(std::int64_t before_us) override;
  [[nodiscard]] StoreResult<bool> prune_blobs(const BlobUse& use) override;

 private:
  StoreResult<void> prepare();
  StoreResult<void> take_over();
  /// The row of `meta`, if this writer may still write.
  StoreResult<Meta> permitted_meta();
  StoreResult<void> insert_rows(const std::vector<JournalEntry>& entries, Meta& meta);
  StoreResult<void> insert_outcomes(const std::vector<KeyedOutcome>& outcomes);
  StoreResult<void> insert_usage(const std::vector<UsageRow>& rows);
  StoreResult<void> insert_snapshot(const JournalSnapshot& snapshot, Meta& meta);
  StoreResult<void> insert_blobs(const JournalBatch& batch);
  StoreResult<void> put(const BlobRow& row);
  /// In a transaction of its own: `change`, which gets meta, removes a part of what may go, moves the cursor on and
  /// returns whether it changed anything. A failure leaves the cursor where it was.
  template <class Cursor>
  StoreResult<bool> prune_part(Cursor& cursor, const auto& change);
  StoreResult<bool> prune_rows(std::uint64_t before, Meta& meta);
  StoreResult<void> put(Statement& statement, const KeyedOutcome& outcome);
  /// A round through all outcomes, in parts.
  struct OutcomeRound {
    std::optional<Sha256> cursor;  ///< how far they were looked at
    AgeCounts ages;                ///< of those that were looked at
  };
  /// Outcomes of the next keys; whether one was changed or removed.
  StoreResult<bool> prune_outcomes(const PruneLimits& limits);
  /// Whether the outcome is older than those that are kept.
  [[nodiscard]] bool is_old(const KeyedOutcome& outcome, const PruneLimits& limits) const;
  /// Notes the next blobs that are used, and removes parts of those that are not, at most `budget`, which it lowers.
  /// Whether anything was changed.
  StoreResult<bool> prune_next_blobs(const BlobUse& use, std::uint32_t& budget);
  StoreResult<std::vector<BlobRow>> next_blobs();
  /// Removes some of its last parts; the row with the last one. Whether all is gone.
  StoreResult<bool> remove_blob(BlobRow row, std::uint32_t& budget);
  /// The oldest usage of the next GPUs; whether some was removed.
  StoreResult<bool> remove_usage(std::int64_t before_us);
  /// The first GPU behind that one that has usage.
  StoreResult<std::optional<std::int64_t>> next_usage_gpu(std::int64_t gpu);
  /// The units of a GPU with which its rows begin.
  StoreResult<std::vector<std::int64_t>> usage_starts(std::int64_t gpu);
  /// Until when the usage of all these places may be removed at once, so that it is not too much; at most `before_us`.
  StoreResult<std::int64_t> usage_cut(std::int64_t gpu, const std::vector<std::int64_t>& starts,
                                      std::int64_t before_us);
  /// How many rows were removed.
  StoreResult<std::int64_t> delete_usage(std::int64_t gpu, const std::vector<std::int64_t>& starts,
                                         std::int64_t cut_us);
  StoreResult<void> commit(Transaction& transaction, Meta meta);
  StoreResult<void> overwrite_refused();
  void checkpoint_if_due();

  Connection connection_;
  Settings settings_;
  int wal_pages_ = 0;                         // after the last commit
  std::optional<Sha256> refused_;             // the hash of meta in a commit that failed and may be in the WAL
  OutcomeRound outcome_round_;                // of `prune`
  std::int64_t outcomes_cut_us_ = INT64_MIN;  // outcomes before were too many in the last round
  std::optional<std::int64_t> usage_cursor_;  // the GPU up to which `prune_usage` is done
  std::optional<Sha256> blob_cursor_;         // the blob up to which `prune_blobs` is done
  MetaTable meta_;
  Statement insert_row_;
  Statement insert_outcome_;
  Statement select_outcome_;
  Statement insert_snapshot_;
  Statement delete_snapshots_;
  Statement select_hash_;
  Statement delete_rows_;
  Statement select_outcomes_;
  Statement delete_outcome_;
  Statement expire_outcome_;
  Statement insert_usage_;
  Statement select_usage_gpu_;
  Statement select_usage_start_;
  Statement select_usage_;
  Statement delete_usage_;
  Statement replace_blob_;
  Statement replace_blob_part_;
  Statement select_blobs_;
  Statement select_blob_bytes_;
  Statement delete_blob_parts_;
  Statement delete_blob_;
};

}  // namespace berth::edges::detail
