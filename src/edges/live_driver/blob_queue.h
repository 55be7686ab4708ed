/// Stores and reads the blobs of clients, one after the other on a separate thread: that takes long, and other requests
/// must not wait for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/locks/fair_mutex.h"
#include "domain/ports/journal_store.h"
#include "edges/live_driver/recorder.h"

namespace berth::live {
class Session;
}

namespace berth::edges {

class BlobQueue {
 public:
  /// For reads under time pressure, for parts, and for whole blobs; all on the recorder's store.
  struct Readers {
    std::unique_ptr<JournalReader> quick;
    std::unique_ptr<JournalReader> parts;
    std::unique_ptr<JournalReader> slow;
  };
  /// The other arguments are borrowed: see WriteQueue.
  BlobQueue(live::Session& session, FairMutex& turn, FairMutex& lock, Recorder& recorder, Readers readers,
            std::function<std::int64_t()> wall_us);
  BlobQueue(const BlobQueue&) = delete;
  BlobQueue& operator=(const BlobQueue&) = delete;
  ~BlobQueue() { stop(); }

  void start();
  /// May be called by any thread: the work is done on the thread of the queue. Ignored after `stop`.
  void run_slowly(std::function<void()> work);
  /// Does the queued work for at most half a second, and ends the thread. The rest is dropped without an outcome; its
  /// clients must send it again. A second call does nothing.
  void stop();

  // Called by the thread of the queue, without turn and lock.

  /// Stores the missing bytes in parts, each with its own commit and turn. On failure returns why they are not on the
  /// disk. Requires: they have that SHA-256.
  [[nodiscard]] std::optional<std::string> store(const Sha256& blob, std::string_view bytes);

  // Called by any thread.

  /// The bytes; nothing if the blob is missing or incomplete. Takes long.
  [[nodiscard]] StoreResult<std::optional<std::string>> read(const Sha256& blob);
  [[nodiscard]] StoreResult<bool> has(const Sha256& blob);
  /// The row of a complete blob; nothing if there is none.
  [[nodiscard]] StoreResult<std::optional<BlobRow>> find_whole(const Sha256& blob);
  /// A part of a blob, 1 MiB at most, from index 0 on; nothing if it is missing. Waits for other readers of parts.
  [[nodiscard]] StoreResult<std::optional<std::string>> read_part(const Sha256& blob, std::uint32_t index);
  /// Records that a blob of `bytes` stored bytes is complete. Returns whether it was complete before, or why this
  /// cannot be recorded. Requires: the turn is held, the lock is not.
  [[nodiscard]] tl::expected<bool, std::string> finish(const Sha256& blob, std::uint64_t bytes);

 private:
  void run();
  [[nodiscard]] std::function<void()> take();
  /// Whether it was stopped and its time to finish is over.
  [[nodiscard]] bool is_overdue();
  [[nodiscard]] StoreResult<std::optional<BlobRow>> find(const Sha256& blob);

  live::Session& session_;
  FairMutex& turn_;
  FairMutex& lock_;
  Recorder& recorder_;
  std::function<std::int64_t()> wall_us_;
  std::mutex readers_lock_;
  std::unique_ptr<JournalReader> quick_reader_;  ///< under readers_lock_
  std::mutex parts_lock_;
  std::unique_ptr<JournalReader> parts_reader_;  ///< under parts_lock_
  std::mutex slow_lock_;
  std::unique_ptr<JournalReader> slow_reader_;  ///< under slow_lock_: reads that take long
  std::thread thread_;
  std::mutex own_lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;                     ///< under own_lock_, like `ends_at_`
  std::optional<std::chrono::steady_clock::time_point> ends_at_;  ///< the time of `stop` plus its grace period
};

}  // namespace berth::edges
