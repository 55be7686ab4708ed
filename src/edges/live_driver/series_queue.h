/// Stores the series of a session on a separate thread: no other thread waits for it, and failures of the store affect
/// nothing else. Data that cannot be written waits, up to a bound.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "domain/ports/series_store.h"
#include "live/session/series_minutes.h"

namespace berth::edges {

struct SeriesQueueOptions {
  /// Opens or creates the store. kForeign and kNewer: no series are stored. kDamaged: the store is set aside and
  /// created again. Any other error: retried later.
  std::function<StoreResult<SeriesStore>()> open;
  /// Moves a damaged store away. It is not open then.
  std::function<StoreResult<void>()> set_aside;
  /// Receives reports for the operator: an event word and a message. Called by the thread of the queue, and by `begin`.
  std::function<void(const std::string& event, const std::string& message)> report;
  std::size_t waiting_bytes_max = std::size_t{32} << 20U;  ///< of unwritten seconds; the oldest are dropped first
  std::chrono::milliseconds write_every{200};
  std::chrono::milliseconds retry_every{1000};
};

class SeriesQueue {
 public:
  explicit SeriesQueue(SeriesQueueOptions options) : options_(std::move(options)) {}
  SeriesQueue(const SeriesQueue&) = delete;
  SeriesQueue& operator=(const SeriesQueue&) = delete;
  ~SeriesQueue() { stop(); }

  /// Opens the store. The world continues with `second`: stored data from it on is discarded. Returns the seconds just
  /// before, as far back as the figures of a session reach.
  [[nodiscard]] std::vector<SeriesSpan> begin(std::int64_t second);
  void start();
  /// Writes what waits, if possible, ends the thread, and closes the store. A second call does nothing.
  void stop();

  /// Adds the next second; in order, by one thread at a time. Holds a lock only while moving the second.
  void add(SeriesSpan second);
  /// Sets for how long spans are kept, in seconds of the world. May be called by any thread.
  void keep(std::int64_t seconds) { keep_seconds_ = seconds; }

  using Reading = std::function<StoreResult<void>(SeriesReader&)>;
  /// Reads what is written. May be called by any thread; calls run one after the other. Errors: those of the reading,
  /// or why there is no store.
  [[nodiscard]] StoreResult<void> read(const Reading& reading);

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  /// Takes a part of what waits, with its sums. False: the queue has ended.
  [[nodiscard]] bool take(SeriesBatch& batch);
  [[nodiscard]] SeriesBatch batch_of(std::vector<SeriesSpan> seconds);
  /// Returns whether the batch is finished: written, or dropped for good.
  [[nodiscard]] bool write(const SeriesBatch& batch);
  [[nodiscard]] StoreResult<void> append(const SeriesBatch& batch);
  [[nodiscard]] StoreResult<void> open();
  void close();
  /// Sets a damaged store aside and creates a new one.
  [[nodiscard]] StoreResult<void> begin_anew(const StoreError& error);
  void note_failure(const StoreError& error);
  void note_success();
  [[nodiscard]] StoreResult<std::vector<SeriesSpan>> read_last(std::int64_t second);

  SeriesQueueOptions options_;
  std::atomic<std::int64_t> keep_seconds_ = INT64_MAX;
  std::atomic<bool> is_damaged_ = false;  ///< a reader found it
  std::thread thread_;

  std::mutex store_lock_;
  SeriesStore store_;              ///< the reader under store_lock_; the writer is the thread's
  std::optional<StoreError> off_;  ///< why none is open; under store_lock_

  std::mutex own_lock_;
  std::condition_variable changed_;
  std::deque<SeriesSpan> waiting_;  ///< under own_lock_, like the next three
  std::size_t waiting_bytes_ = 0;
  std::uint64_t lost_seconds_ = 0;  ///< dropped because they waited too long
  bool is_stopping_ = false;

  // Used only by the queue's thread:
  live::SeriesMinutes minutes_;
  bool is_off_ = false;  ///< for good
  bool is_failing_ = false;
  Clock::time_point again_at_;
};

}  // namespace berth::edges
