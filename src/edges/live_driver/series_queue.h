/// Keeps the series of a session in a store, on a thread of its own: nobody waits for it, and nothing that happens to
/// the store is anybody else's trouble. What cannot be written waits, a bounded part of it.
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
  /// Opens the store, or makes it. kForeign and kNewer: none is kept. kDamaged: it is set aside, and opened again. Any
  /// other error: tried again later.
  std::function<StoreResult<SeriesStore>()> open;
  /// Puts away what is damaged. Nothing of it is open.
  std::function<StoreResult<void>()> set_aside;
  /// Gets what a person should know: a word and a message. Called by the thread of the queue, and by `begin`.
  std::function<void(const std::string& event, const std::string& message)> report;
  std::size_t waiting_bytes_max = std::size_t{32} << 20U;  ///< of seconds that wait to be written; the oldest go first
  std::chrono::milliseconds write_every{200};
  std::chrono::milliseconds retry_every{1000};
};

class SeriesQueue {
 public:
  explicit SeriesQueue(SeriesQueueOptions options) : options_(std::move(options)) {}
  SeriesQueue(const SeriesQueue&) = delete;
  SeriesQueue& operator=(const SeriesQueue&) = delete;
  ~SeriesQueue() { stop(); }

  /// Opens the store. The world goes on with that second: what the store has of it and later is discarded. Returns the
  /// seconds just before, as many as the figures of a session go back.
  [[nodiscard]] std::vector<SeriesSpan> begin(std::int64_t second);
  void start();
  /// Writes what waits, if that is possible, ends the thread, and closes the store. A second call does nothing.
  void stop();

  /// The next second; in order. By one thread at a time; takes no lock for longer than it takes to move the second.
  void add(SeriesSpan second);
  /// For how long spans are kept, in seconds of the world. Any thread.
  void keep(std::int64_t seconds) { keep_seconds_ = seconds; }

  using Reading = std::function<StoreResult<void>(SeriesReader&)>;
  /// Reads what is written. Any thread; one after the other. Errors: those of the reading, and why there is no store.
  [[nodiscard]] StoreResult<void> read(const Reading& reading);

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  /// Takes a part of what waits, with sums. False: there will be no more.
  [[nodiscard]] bool take(SeriesBatch& batch);
  [[nodiscard]] SeriesBatch batch_of(std::vector<SeriesSpan> seconds);
  /// Returns whether it is written, or will never be.
  [[nodiscard]] bool write(const SeriesBatch& batch);
  [[nodiscard]] StoreResult<void> append(const SeriesBatch& batch);
  [[nodiscard]] StoreResult<void> open();
  void close();
  /// What is damaged is begun anew.
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
  std::uint64_t lost_seconds_ = 0;  ///< that waited for too long
  bool is_stopping_ = false;

  // Of the thread:
  live::SeriesMinutes minutes_;
  bool is_off_ = false;  ///< for good
  bool is_failing_ = false;
  Clock::time_point again_at_;
};

}  // namespace berth::edges
