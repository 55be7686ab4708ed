/// Records the entries of a session: orders before they take effect, everything else soon after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/ports/disk_reserve.h"
#include "domain/ports/journal_store.h"
#include "domain/values/metric.h"
#include "live/session/entry.h"

namespace berth::edges {

/// Whether all are orders that reduce load on the fleet or stop changes: services and tenants are removed, planning is
/// paused, GPUs are cordoned or drained. Such orders may use the disk reserve.
[[nodiscard]] bool are_vital(const std::vector<live::Entry>& orders);

class Recorder {
 public:
  /// The end of the journal.
  struct Head {
    std::uint64_t last_sequence = 0;
    std::uint64_t snapshot_sequence = 0;  ///< the last row that a snapshot covers
    std::size_t snapshot_bytes = 0;       ///< of that snapshot
  };
  /// A batch to append, together with the entries noted before it.
  struct Draft {
    JournalBatch batch;
    std::ptrdiff_t noted_count = 0;  ///< how many of its first entries were noted
    std::uint64_t noted_bytes = 0;
  };
  /// `encode` turns an entry into a row. `before_append` is called before each append, so that the state of the devices
  /// is as durable as the rows that refer to it; if it fails, nothing is appended. It may be empty.
  Recorder(std::unique_ptr<JournalWriter> writer, const Head& head,
           std::function<JournalEntry(const live::Entry&)> encode, std::function<StoreResult<void>()> before_append);
  /// From now on vital orders may use this reserve, which is borrowed: when the disk is full, it is released for them.
  /// Until it is restored, nothing else is recorded.
  void guard(DiskReserve& reserve);

  // Called by the thread that may change the session, under its lock; or without the lock while readers have nothing to
  // record.

  /// Adds an entry, to be recorded by the next `record` or `flush`.
  void note(const live::Entry& entry);
  /// Adds usage that ended at the step of the last noted entry; it is recorded with that entry.
  void note_usage(UsageRow row);
  /// Usage that waits to be recorded.
  [[nodiscard]] const std::vector<UsageRow>& pending_usage() const { return pending_usage_; }
  /// Records the noted entries, then these. On failure returns why they are not on the disk; the noted entries then
  /// keep waiting. `begun`: the keyed writes that led to them.
  std::optional<std::string> record(const std::vector<live::Entry>& entries,
                                    const std::vector<KeyedOutcome>& begun = {});
  /// The next recorded entries belong to this keyed write; absent: to none.
  void begin(std::optional<KeyedOutcome> outcome) { begun_ = std::move(outcome); }
  /// Whether no entries were recorded since that write began.
  [[nodiscard]] bool has_begun() const { return begun_.has_value(); }
  /// Keeps outcomes of keyed writes: recorded with the next rows, or by the next `flush`; `find_outcomes` finds them in
  /// the meantime.
  void keep(std::vector<KeyedOutcome> outcomes);
  /// Drops a kept outcome: it was never reported to a client.
  void forget(const Sha256& key) { kept_.erase(key); }
  /// Whether kept outcomes wait to be recorded.
  [[nodiscard]] bool has_outcomes() const { return !kept_.empty(); }
  /// Whether no more outcomes may be kept, so that keyed writes must be refused.
  [[nodiscard]] bool is_full_of_outcomes() const { return kept_.size() >= kOutcomesMax; }
  /// The outcomes of the writes under these keys, by key; unused keys are left out.
  [[nodiscard]] StoreResult<std::map<Sha256, KeyedOutcome>> find_outcomes(const std::vector<Sha256>& keys);
  /// Records the noted entries.
  std::optional<std::string> flush() { return record({}); }
  /// Records the noted entries, and a snapshot that covers them. `format` is that of `body`. On failure returns why it
  /// is not on the disk.
  std::optional<std::string> record_snapshot(int format, std::string body);
  /// The same in three steps. The second takes long and may run without the session's lock, if no usage waited at the
  /// first and the turn is held throughout: readers then have nothing to record, and outcomes may be kept.
  [[nodiscard]] Draft draft_snapshot(int format, std::string body);
  [[nodiscard]] StoreResult<std::uint64_t> append(const Draft& draft) { return append_safely(draft.batch); }
  std::optional<std::string> settle(Draft draft, const StoreResult<std::uint64_t>& appended);
  /// Whether another snapshot is worth its cost, given the rows since the last one, which a start must replay.
  [[nodiscard]] bool is_snapshot_due() const;
  /// Rows since the last snapshot, including noted ones.
  [[nodiscard]] std::uint64_t rows_since_snapshot() const {
    return head_.last_sequence + pending_.size() - head_.snapshot_sequence;
  }
  /// Stores a part of a blob, independent of the noted entries; on failure returns why it is not on the disk. Requires:
  /// readers have nothing to record meanwhile.
  std::optional<std::string> store_part(BlobPart part, const BlobRow& row);
  /// Records the noted entries and the row of a blob, as part of the write that was begun.
  std::optional<std::string> record_blob(const BlobRow& row);
  /// Removes some expired data (JournalWriter::prune). Returns whether there is more. Failures are retried by the next
  /// call.
  bool prune(const PruneLimits& limits);
  /// Removes some usage that had ended before `before`. Returns whether there is more.
  bool prune_usage(Instant before) { return writer_->prune_usage(before.micros()).value_or(false); }
  /// Removes some unused blobs. Returns whether there is more.
  bool prune_blobs(const BlobUse& use) { return writer_->prune_blobs(use).value_or(false); }
  /// Entries that wait to be recorded.
  [[nodiscard]] std::size_t pending_count() const { return pending_.size(); }
  /// Whether the world may advance: not while recording fails and its noted entries use up their share of the reserve,
  /// because a vital order would have to record these, too.
  [[nodiscard]] bool has_room_for_world() const;
  /// The number of the last row.
  [[nodiscard]] std::uint64_t last_sequence() const { return head_.last_sequence; }

  /// Why the last attempt failed; absent if it did not. May be called by any thread.
  [[nodiscard]] std::optional<std::string> failure() const {
    const std::scoped_lock hold(own_lock_);
    return failure_;
  }
  /// How long commits took, those that failed too, in seconds. May be called by any thread.
  [[nodiscard]] MetricHistogram commit_histogram() const {
    const std::scoped_lock hold(own_lock_);
    return commits_;
  }

 private:
  static constexpr std::size_t kOutcomesMax = 10'000;

  /// Whether the reserve is released and cannot be restored now.
  [[nodiscard]] bool is_on_reserve();
  std::optional<std::string> note_failure(std::optional<std::string> failure);
  /// Moves the noted entries into the draft, until it is settled.
  [[nodiscard]] Draft draft(JournalBatch batch);
  /// Appends the noted entries and the batch. On an error the noted entries keep waiting.
  [[nodiscard]] std::optional<std::string> append(JournalBatch batch, bool is_vital = false);
  [[nodiscard]] StoreResult<std::uint64_t> append_safely(const JournalBatch& batch);
  [[nodiscard]] StoreResult<std::uint64_t> append_timed(const JournalBatch& batch);
  /// Releases the reserve if there is no space for a vital batch. `answers`: see `take_answers`.
  [[nodiscard]] StoreResult<std::uint64_t> append_vital(JournalBatch& batch, std::vector<KeyedOutcome>& answers);
  /// Removes answers from a batch, as they may not use the reserve. Returns those of its own orders; their outcomes
  /// stay in the batch as begun.
  [[nodiscard]] std::vector<KeyedOutcome> take_answers(JournalBatch& batch) const;
  /// Keeps answers until there is space for them, up to a memory limit; the outcomes of others stay begun.
  void keep_answers(std::vector<KeyedOutcome> answers);

  std::unique_ptr<JournalWriter> writer_;
  std::function<JournalEntry(const live::Entry&)> encode_;
  std::function<StoreResult<void>()> before_append_;
  Head head_;
  std::uint64_t bytes_since_snapshot_ = 0;
  std::vector<JournalEntry> pending_;
  std::optional<KeyedOutcome> begun_;
  std::map<Sha256, KeyedOutcome> kept_;  ///< not recorded yet, by key
  std::vector<UsageRow> pending_usage_;
  std::uint64_t pending_bytes_ = 0;  ///< of the noted entries
  DiskReserve* reserve_ = nullptr;
  std::uint64_t reserve_bytes_used_ = 0;  ///< by noted entries, since the reserve was released
  mutable std::mutex own_lock_;
  std::optional<std::string> failure_;       ///< under own_lock_
  MetricHistogram commits_ = empty_times();  ///< the same
};

}  // namespace berth::edges
