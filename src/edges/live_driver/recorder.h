/// Records what a session tells: orders before anything comes of them, everything else soon after.
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
#include "live/session/entry.h"

namespace berth::edges {

/// Whether all are orders that take load from the fleet or hold it still: services and tenants are removed, planning is
/// paused, GPUs are cordoned or drained. They have a reserve.
[[nodiscard]] bool are_vital(const std::vector<live::Entry>& orders);

class Recorder {
 public:
  /// What the journal has.
  struct Head {
    std::uint64_t last_sequence = 0;
    std::uint64_t snapshot_sequence = 0;  ///< the last row that a snapshot covers
    std::size_t snapshot_bytes = 0;       ///< of that snapshot
  };
  /// A batch that is about to be appended, with what was noted before it.
  struct Draft {
    JournalBatch batch;
    std::ptrdiff_t noted_count = 0;  ///< the first of its entries
    std::uint64_t noted_bytes = 0;
  };
  /// `encode` makes a row of an entry. `before_append` is called before each append, so that what the devices remember
  /// is as safe as the rows that tell of it; if it fails, nothing is appended. It may be empty.
  Recorder(std::unique_ptr<JournalWriter> writer, const Head& head,
           std::function<JournalEntry(const live::Entry&)> encode, std::function<StoreResult<void>()> before_append);
  /// From now on vital orders have this reserve, which is borrowed: when the disk is full, it is released for them.
  /// Until it is kept again nothing else is recorded.
  void guard(DiskReserve& reserve);

  // To be called by whoever may change the session, under its lock; or without it, where readers have nothing to
  // record.

  /// Recorded by the next `record` or `flush`.
  void note(const live::Entry& entry);
  /// Usage that was over at the step of the entry that was noted last: recorded with it.
  void note_usage(UsageRow row);
  /// Usage that waits to be recorded.
  [[nodiscard]] const std::vector<UsageRow>& pending_usage() const { return pending_usage_; }
  /// Records what was noted, then these. Returns why they are not on the disk: then what was noted waits on.
  /// `begun`: writes under keys that lead to them.
  std::optional<std::string> record(const std::vector<live::Entry>& entries,
                                    const std::vector<KeyedOutcome>& begun = {});
  /// The next entries that are recorded stand on this write; absent: on none.
  void begin(std::optional<KeyedOutcome> outcome) { begun_ = std::move(outcome); }
  /// Whether no entries came since that write began.
  [[nodiscard]] bool has_begun() const { return begun_.has_value(); }
  /// What came of writes under keys: recorded with the next rows, or by the next `flush`, and known meanwhile.
  void keep(std::vector<KeyedOutcome> outcomes);
  /// Such an outcome is not to be recorded: nobody was told of it.
  void forget(const Sha256& key) { kept_.erase(key); }
  /// Whether such outcomes wait to be recorded.
  [[nodiscard]] bool has_outcomes() const { return !kept_.empty(); }
  /// Whether no more of them may wait: writes under keys have to be refused.
  [[nodiscard]] bool is_full_of_outcomes() const { return kept_.size() >= kOutcomesMax; }
  /// What came of the writes under these keys, by key; those that were not used are left out.
  [[nodiscard]] StoreResult<std::map<Sha256, KeyedOutcome>> find_outcomes(const std::vector<Sha256>& keys);
  /// Records what was noted.
  std::optional<std::string> flush() { return record({}); }
  /// Records what was noted, and a state that covers it. `format` is that of `body`. Returns why it is not on the disk.
  std::optional<std::string> record_snapshot(int format, std::string body);
  /// The same in three steps, of which the second takes long and may be done without the session's lock, if no usage
  /// waited at the first and the turn is held throughout: readers have nothing to record, and outcomes may be kept.
  [[nodiscard]] Draft draft_snapshot(int format, std::string body);
  [[nodiscard]] StoreResult<std::uint64_t> append(const Draft& draft) { return append_safely(draft.batch); }
  std::optional<std::string> settle(Draft draft, const StoreResult<std::uint64_t>& appended);
  /// Whether so many rows came since the last snapshot that another one is worth what it costs: a start repeats them.
  [[nodiscard]] bool is_snapshot_due() const;
  /// Rows, with those that were noted, since the last snapshot.
  [[nodiscard]] std::uint64_t rows_since_snapshot() const {
    return head_.last_sequence + pending_.size() - head_.snapshot_sequence;
  }
  /// Stores a part of a blob, apart from what was noted; returns why it is not on the disk. Readers must have nothing
  /// to record meanwhile.
  std::optional<std::string> store_part(BlobPart part, const BlobRow& row);
  /// Records what was noted, and what is known of a blob; stands on the write that was begun.
  std::optional<std::string> record_blob(const BlobRow& row);
  /// Removes some of what is too old (JournalWriter::prune). Returns whether there is more. What fails is tried again
  /// by the next call.
  bool prune(const PruneLimits& limits);
  /// Removes some usage that was over by then. Returns whether there is more.
  bool prune_usage(Instant before) { return writer_->prune_usage(before.micros()).value_or(false); }
  /// Removes blobs that are of no use any more. Returns whether there is more.
  bool prune_blobs(const BlobUse& use) { return writer_->prune_blobs(use).value_or(false); }
  /// Entries that wait to be recorded.
  [[nodiscard]] std::size_t pending_count() const { return pending_.size(); }
  /// Whether the world may go on: not while nothing can be recorded and what it told takes up its part of the reserve,
  /// which a vital order would have to record, too.
  [[nodiscard]] bool has_room_for_world() const;
  /// The number of the last row.
  [[nodiscard]] std::uint64_t last_sequence() const { return head_.last_sequence; }

  /// Why the last attempt failed; absent if it did not. Any thread may ask.
  [[nodiscard]] std::optional<std::string> failure() const {
    const std::scoped_lock hold(own_lock_);
    return failure_;
  }

 private:
  static constexpr std::size_t kOutcomesMax = 10'000;

  /// Whether the reserve is released, and cannot be kept again now.
  [[nodiscard]] bool is_on_reserve();
  std::optional<std::string> note_failure(std::optional<std::string> failure);
  /// Adds what was noted, which does not wait any more until the draft is settled.
  [[nodiscard]] Draft draft(JournalBatch batch);
  /// Appends what was noted and the batch. On an error what was noted waits on.
  [[nodiscard]] std::optional<std::string> append(JournalBatch batch, bool is_vital = false);
  [[nodiscard]] StoreResult<std::uint64_t> append_safely(const JournalBatch& batch);
  /// Releases the reserve if there is no space for a vital batch. `answers`: see `take_answers`.
  [[nodiscard]] StoreResult<std::uint64_t> append_vital(JournalBatch& batch, std::vector<KeyedOutcome>& answers);
  /// The reserve is not for answers: takes them out of a batch. Returns those that came with its orders; their outcomes
  /// are begun in it.
  [[nodiscard]] std::vector<KeyedOutcome> take_answers(JournalBatch& batch) const;
  /// Keeps answers until there is space for them, as far as memory may be used for that: the others stay begun.
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
  std::uint64_t pending_bytes_ = 0;  ///< of what was noted
  DiskReserve* reserve_ = nullptr;
  std::uint64_t reserve_bytes_used_ = 0;  ///< by what was noted, since the reserve was released
  mutable std::mutex own_lock_;
  std::optional<std::string> failure_;  ///< under own_lock_
};

}  // namespace berth::edges
