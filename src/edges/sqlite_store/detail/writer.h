/// Appends to a journal on a connection of its own.
///
/// A failed commit may have put its pages into the WAL, with the mark of a commit, for example if only the sync failed.
/// SQLite does not show them, and the next commit overwrites them; but if the process ended before that, recovery by
/// the next one would take them for committed. So a failed commit is followed at once by a small one, which overwrites
/// its beginning, and nothing is appended until that has succeeded. The connection stays open meanwhile, as closing it
/// could lead to such a recovery. If the device refuses that commit, too, and all later ones, a restart may find the
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

/// The state of a store's checkpoints. One that readers kept from completing has copied pages that are not synced yet.
/// If the sync of a later one then fails, the system may have lost them, and SQLite would not copy them again until the
/// WAL's index is rebuilt: so there is no further checkpoint until the store is opened again.
struct Checkpoints {
  bool is_partial = true;   ///< pages may have been copied but not synced
  bool is_stopped = false;  ///< the WAL must be kept even when its last connection closes
};

/// Copies the WAL's pages into the file, as far as readers permit. A failure loses nothing: the WAL is kept.
void checkpoint(const Connection& connection, int mode, Checkpoints& checkpoints);

class SqliteWriter : public JournalWriter {
 public:
  SqliteWriter() = default;  ///< for `open`
  struct Settings {
    std::uint64_t epoch = 0;
    int checkpoint_pages = 0;
    Checkpoints* checkpoints = nullptr;  ///< of the store, which outlives the writer
  };
  /// Takes over a connection, and the store from writers of lower epochs.
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
  /// The row of `meta`. Error if this writer may no longer write.
  StoreResult<Meta> permitted_meta();
  StoreResult<void> insert_rows(const std::vector<JournalEntry>& entries, Meta& meta);
  StoreResult<void> insert_outcomes(const std::vector<KeyedOutcome>& outcomes);
  StoreResult<void> insert_usage(const std::vector<UsageRow>& rows);
  StoreResult<void> insert_snapshot(const JournalSnapshot& snapshot, Meta& meta);
  StoreResult<void> insert_blobs(const JournalBatch& batch);
  StoreResult<void> put(const BlobRow& row);
  /// In a separate transaction: `change`, which gets meta, removes a part of the removable data, advances the cursor
  /// and returns whether it changed anything. A failure leaves the cursor unchanged.
  template <class Cursor>
  StoreResult<bool> prune_part(Cursor& cursor, const auto& change);
  StoreResult<bool> prune_rows(std::uint64_t before, Meta& meta);
  StoreResult<void> put(Statement& statement, const KeyedOutcome& outcome);
  /// A round through all outcomes, in parts.
  struct OutcomeRound {
    std::optional<Sha256> cursor;  ///< the last key examined
    AgeCounts ages;                ///< of the outcomes examined
  };
  /// Prunes outcomes of the next keys. Returns whether one was changed or removed.
  StoreResult<bool> prune_outcomes(const PruneLimits& limits);
  /// Whether the outcome is too old to be kept.
  [[nodiscard]] bool is_old(const KeyedOutcome& outcome, const PruneLimits& limits) const;
  /// Marks the next used blobs, and removes parts of unused ones, at most `budget`, which it decreases. Returns whether
  /// anything was changed.
  StoreResult<bool> prune_next_blobs(const BlobUse& use, std::uint32_t& budget);
  StoreResult<std::vector<BlobRow>> next_blobs();
  /// Removes some of the blob's last parts, and its row with the last one. Returns whether all is gone.
  StoreResult<bool> remove_blob(BlobRow row, std::uint32_t& budget);
  /// Removes the oldest usage of the next GPUs. Returns whether some was removed.
  StoreResult<bool> remove_usage(std::int64_t before_us);
  /// The first GPU after `gpu` that has usage.
  StoreResult<std::optional<std::int64_t>> next_usage_gpu(std::int64_t gpu);
  /// The units of a GPU at which its rows begin.
  StoreResult<std::vector<std::int64_t>> usage_starts(std::int64_t gpu);
  /// The time up to which the usage of these places may be removed in one step of bounded size; at most `before_us`.
  StoreResult<std::int64_t> usage_cut(std::int64_t gpu, const std::vector<std::int64_t>& starts,
                                      std::int64_t before_us);
  /// Removes usage up to `cut_us`. Returns the number of rows removed.
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
  std::int64_t outcomes_cut_us_ = INT64_MIN;  // older outcomes exceeded the limit in the last round
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
