/// Records what a session tells: orders before anything comes of them, everything else soon after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/entry.h"
#include "ports/journal_store.h"

namespace berth::edges {

class Recorder {
 public:
  /// `encode` makes a row of an entry. `before_append` is called before each append, so that what the devices remember
  /// is as safe as the rows that tell of it; if it fails, nothing is appended. It may be empty.
  Recorder(std::unique_ptr<JournalWriter> writer, std::function<JournalEntry(const live::Entry&)> encode,
           std::function<StoreResult<void>()> before_append);

  // To be called under the lock of the session.

  /// Recorded by the next `record` or `flush`.
  void note(const live::Entry& entry) { pending_.push_back(encode_(entry)); }
  /// Usage that was over at the step of the entry that was noted last: recorded with it.
  void note_usage(UsageRow row) { pending_usage_.push_back(std::move(row)); }
  /// Usage that waits to be recorded.
  [[nodiscard]] const std::vector<UsageRow>& pending_usage() const { return pending_usage_; }
  /// Records what was noted, then these. Returns why they are not on the disk: then what was noted waits on.
  std::optional<std::string> record(const std::vector<live::Entry>& entries);
  /// Records what was noted.
  std::optional<std::string> flush() { return record({}); }
  /// Entries that wait to be recorded.
  [[nodiscard]] std::size_t pending_count() const { return pending_.size(); }
  /// The number of the last row.
  [[nodiscard]] std::uint64_t last_sequence() const { return last_sequence_; }

  /// Why the last attempt failed; absent if it did not. Any thread may ask.
  [[nodiscard]] std::optional<std::string> failure() const {
    const std::scoped_lock hold(own_lock_);
    return failure_;
  }

 private:
  std::optional<std::string> note_failure(std::optional<std::string> failure);
  [[nodiscard]] StoreResult<std::uint64_t> append(const JournalBatch& batch);

  std::unique_ptr<JournalWriter> writer_;
  std::function<JournalEntry(const live::Entry&)> encode_;
  std::function<StoreResult<void>()> before_append_;
  std::vector<JournalEntry> pending_;
  std::vector<UsageRow> pending_usage_;
  mutable std::mutex own_lock_;
  std::optional<std::string> failure_;  ///< under own_lock_
  std::uint64_t last_sequence_ = 0;
};

}  // namespace berth::edges
