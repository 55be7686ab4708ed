#include "edges/live_driver/series_queue.h"

#include <algorithm>
#include <utility>

#include "live/session/minute.h"

namespace berth::edges {
namespace {

/// The approximate size of one commit: larger ones would take too long.
constexpr std::size_t kBatchBytes = std::size_t{2} << 20U;

std::size_t bytes_of(const SeriesSpan& span) {
  std::size_t bytes = sizeof(SeriesSpan);
  for (const ServiceFigures& each : span.services) {
    bytes += sizeof(ServiceFigures) + each.latencies.size() * sizeof(LatencyBucket) +
             each.settled.size() * sizeof(SettledRequests);
  }
  return bytes;
}

bool is_for_good(const StoreError& error) {
  return error.fault == StoreFault::kForeign || error.fault == StoreFault::kNewer;
}

}  // namespace

// ---- begin and end

std::vector<SeriesSpan> SeriesQueue::begin(std::int64_t second) {
  auto last = open().and_then([&] { return read_last(second); });
  if (!last && last.error().fault == StoreFault::kDamaged) {
    last = begin_anew(last.error()).and_then([&] { return read_last(second); });
  }
  if (!last) {
    note_failure(last.error());
    return {};
  }
  for (const SeriesSpan& span : *last) {
    const bool is_of_last_minute = span.second / live::kSeriesMinute == last->back().second / live::kSeriesMinute;
    if (is_of_last_minute) static_cast<void>(minutes_.add(span));
  }
  return std::move(*last);
}

StoreResult<std::vector<SeriesSpan>> SeriesQueue::read_last(std::int64_t second) {
  constexpr auto kSecondsMax = static_cast<std::int64_t>(live::kMinuteSeconds) + live::kTargetSecondsMax;
  if (auto discarded = store_.writer->discard_from(second); !discarded) return tl::unexpected(discarded.error());
  return store_.reader->read({.ring = SeriesRing::kSeconds, .from = second - kSecondsMax, .to = second});
}

void SeriesQueue::start() {
  thread_ = std::thread([this] { run(); });
}

void SeriesQueue::stop() {
  {
    const std::scoped_lock hold(own_lock_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  close();
}

void SeriesQueue::add(SeriesSpan second) {
  const std::scoped_lock hold(own_lock_);
  waiting_bytes_ += bytes_of(second);
  waiting_.push_back(std::move(second));
  while (waiting_bytes_ > options_.waiting_bytes_max) {
    waiting_bytes_ -= bytes_of(waiting_.front());
    waiting_.pop_front();
    ++lost_seconds_;
  }
  if (waiting_.size() == 1) changed_.notify_one();
}

// ---- the thread

void SeriesQueue::run() {
  SeriesBatch batch;
  while (take(batch)) {
    while (!write(batch)) {
      std::unique_lock hold(own_lock_);
      changed_.wait_for(hold, options_.retry_every, [this] { return is_stopping_; });
      if (is_stopping_) return;
    }
  }
}

bool SeriesQueue::take(SeriesBatch& batch) {
  std::vector<SeriesSpan> seconds;
  {
    std::unique_lock hold(own_lock_);
    changed_.wait(hold, [&] { return is_stopping_ || !waiting_.empty(); });
    changed_.wait_until(hold, again_at_, [&] { return is_stopping_ || waiting_bytes_ >= kBatchBytes; });
    for (std::size_t bytes = 0; !waiting_.empty() && bytes < kBatchBytes; waiting_.pop_front()) {
      bytes += bytes_of(waiting_.front());
      waiting_bytes_ -= bytes_of(waiting_.front());
      seconds.push_back(std::move(waiting_.front()));
    }
  }
  again_at_ = Clock::now() + options_.write_every;
  if (seconds.empty()) return false;
  batch = batch_of(std::move(seconds));
  return true;
}

SeriesBatch SeriesQueue::batch_of(std::vector<SeriesSpan> seconds) {
  SeriesBatch batch;
  const std::int64_t newest = seconds.back().second;
  const std::int64_t keep_seconds = keep_seconds_;
  if (keep_seconds < newest) batch.keep_from = newest - keep_seconds;
  for (SeriesSpan& span : seconds) {
    if (auto total = total_of(span)) span.services.push_back(std::move(*total));
    if (auto minute = minutes_.add(span)) batch.minutes.push_back(std::move(*minute));
  }
  batch.seconds = std::move(seconds);
  return batch;
}

bool SeriesQueue::write(const SeriesBatch& batch) {
  if (is_off_) return true;
  auto written = append(batch);
  if (!written && written.error().fault == StoreFault::kDamaged) {
    written = begin_anew(written.error()).and_then([&] { return append(batch); });
  }
  if (written) {
    note_success();
  } else {
    note_failure(written.error());
  }
  return written.has_value() || is_off_;
}

StoreResult<void> SeriesQueue::append(const SeriesBatch& batch) {
  if (is_damaged_) return tl::unexpected(StoreError{StoreFault::kDamaged, "a row is not what was written"});
  if (!store_.writer) {
    if (auto opened = open(); !opened) return opened;
  }
  return store_.writer->append(batch);
}

// ---- the store

StoreResult<void> SeriesQueue::open() {
  auto opened = options_.open();
  const std::scoped_lock hold(store_lock_);
  if (!opened) {
    off_ = opened.error();
    return tl::unexpected(opened.error());
  }
  store_ = std::move(*opened);
  off_.reset();
  is_damaged_ = false;
  return {};
}

void SeriesQueue::close() {
  const std::scoped_lock hold(store_lock_);
  store_.reader.reset();
  store_.writer.reset();
}

StoreResult<void> SeriesQueue::begin_anew(const StoreError& error) {
  close();
  if (auto aside = options_.set_aside(); !aside) return aside;
  options_.report("series_begun_anew", error.message + "; it is put aside, and a new one begun");
  return open();
}

void SeriesQueue::note_failure(const StoreError& error) {
  if (is_for_good(error)) {
    is_off_ = true;
    options_.report("series_off", error.message);
  } else if (!std::exchange(is_failing_, true)) {
    options_.report("series_paused", error.message + "; it is tried again every second");
  }
}

void SeriesQueue::note_success() {
  if (!std::exchange(is_failing_, false)) return;
  std::uint64_t lost = 0;
  {
    const std::scoped_lock hold(own_lock_);
    lost = std::exchange(lost_seconds_, 0);
  }
  options_.report("series_resumed", std::to_string(lost) + " seconds of the world are missing");
}

StoreResult<void> SeriesQueue::read(const Reading& reading) {
  const std::scoped_lock hold(store_lock_);
  if (!store_.reader) return tl::unexpected(off_.value_or(StoreError{StoreFault::kFailed, "no series are open"}));
  auto read = reading(*store_.reader);
  if (!read && read.error().fault == StoreFault::kDamaged) is_damaged_ = true;
  return read;
}

}  // namespace berth::edges
