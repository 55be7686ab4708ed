#include "edges/live_driver/blob_queue.h"

#include <chrono>
#include <utility>

#include "edges/live_driver/quiesce.h"

namespace berth::edges {
namespace {

/// A commit of this size takes a few milliseconds on most disks.
constexpr std::size_t kPartBytes = std::size_t{1} << 20U;

}  // namespace

BlobQueue::BlobQueue(live::Session& session, FairMutex& turn, FairMutex& lock, Recorder& recorder, Readers readers,
                     std::function<std::int64_t()> wall_us)
    : session_(session),
      turn_(turn),
      lock_(lock),
      recorder_(recorder),
      wall_us_(std::move(wall_us)),
      quick_reader_(std::move(readers.quick)),
      parts_reader_(std::move(readers.parts)),
      slow_reader_(std::move(readers.slow)) {}

void BlobQueue::start() {
  thread_ = std::thread([this] { run(); });
}

void BlobQueue::run_slowly(std::function<void()> work) {
  const std::scoped_lock hold(own_lock_);
  if (ends_at_) return;
  waiting_.push_back(std::move(work));
  changed_.notify_one();
}

void BlobQueue::stop() {
  constexpr std::chrono::milliseconds kLast{500};
  {
    const std::scoped_lock hold(own_lock_);
    if (!ends_at_) ends_at_ = std::chrono::steady_clock::now() + kLast;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  std::unique_lock hold(own_lock_);
  const auto undone = std::exchange(waiting_, {});
  hold.unlock();  // destroying the undone work notifies its clients
}

bool BlobQueue::is_overdue() {
  const std::scoped_lock hold(own_lock_);
  return ends_at_ && std::chrono::steady_clock::now() >= *ends_at_;
}

void BlobQueue::run() {
  while (const auto work = take()) work();
}

/// The next work; empty: the queue has ended.
std::function<void()> BlobQueue::take() {
  std::unique_lock hold(own_lock_);
  changed_.wait(hold, [&] { return ends_at_ || !waiting_.empty(); });
  if (waiting_.empty() || (ends_at_ && std::chrono::steady_clock::now() >= *ends_at_)) return {};
  auto work = std::move(waiting_.front());
  waiting_.pop_front();
  return work;
}

std::optional<std::string> BlobQueue::store(const Sha256& blob, std::string_view bytes) {
  const auto known = find(blob);
  if (!known) return known.error().message;
  BlobRow row = known->value_or(BlobRow{.blob = blob});
  if (row.is_whole) return std::nullopt;
  row.used_wall_us = wall_us_();
  while (row.bytes < bytes.size()) {
    BlobPart part{.blob = blob, .index = row.part_count, .bytes = std::string(bytes.substr(row.bytes, kPartBytes))};
    row.bytes += part.bytes.size();
    ++row.part_count;
    if (is_overdue()) return "the server is stopping";
    const std::scoped_lock turn(turn_);
    if (auto failure = quiesce(session_, lock_, recorder_)) return failure;
    if (auto failure = recorder_.store_part(std::move(part), row)) return failure;
  }
  return std::nullopt;
}

StoreResult<std::optional<std::string>> BlobQueue::read(const Sha256& blob) {
  const std::scoped_lock hold(slow_lock_);
  const auto row = slow_reader_->find_blob(blob);
  if (!row) return tl::unexpected(row.error());
  if (!*row || !(*row)->is_whole) return std::nullopt;
  std::string bytes;
  bytes.reserve((*row)->bytes);
  for (std::uint32_t index = 0; index < (*row)->part_count; ++index) {
    const auto part = slow_reader_->read_blob_part(blob, index);
    if (!part) return tl::unexpected(part.error());
    if (!*part) return std::nullopt;  // it was removed meanwhile
    bytes += (*part)->bytes;
  }
  return bytes;
}

StoreResult<bool> BlobQueue::has(const Sha256& blob) {
  const auto row = find_whole(blob);
  if (!row) return tl::unexpected(row.error());
  return row->has_value();
}

StoreResult<std::optional<BlobRow>> BlobQueue::find_whole(const Sha256& blob) {
  auto row = find(blob);
  if (row && *row && !(*row)->is_whole) row->reset();
  return row;
}

StoreResult<std::optional<std::string>> BlobQueue::read_part(const Sha256& blob, std::uint32_t index) {
  const std::scoped_lock hold(parts_lock_);
  auto part = parts_reader_->read_blob_part(blob, index);
  if (!part) return tl::unexpected(part.error());
  if (!*part) return std::nullopt;
  return std::move((*part)->bytes);
}

tl::expected<bool, std::string> BlobQueue::finish(const Sha256& blob, std::uint64_t bytes) {
  const auto known = find(blob);
  if (!known) return tl::unexpected(known.error().message);
  BlobRow row = known->value_or(BlobRow{.blob = blob});
  const bool was_whole = row.is_whole;
  if (row.bytes != bytes) return tl::unexpected(std::string("a part of it was removed in the meantime: put it again"));
  row.is_whole = true;
  row.used_wall_us = wall_us_();
  const std::scoped_lock hold(lock_);
  if (auto failure = recorder_.record_blob(row)) return tl::unexpected(*std::move(failure));
  session_.set_recorded();
  return was_whole;
}

StoreResult<std::optional<BlobRow>> BlobQueue::find(const Sha256& blob) {
  const std::scoped_lock hold(readers_lock_);
  return quick_reader_->find_blob(blob);
}

}  // namespace berth::edges
