#include "sim/world/request_queue.h"

#include <algorithm>

#include "base/core/ensure.h"
#include "base/core/instant.h"

namespace berth::sim {

void RequestQueue::load(std::int64_t second, SecondOfRequests& into) const {
  into.second = second;
  into.begin_us = second * kMicrosPerSecond;
  stream_.offsets(second, into.offsets);
}

std::int64_t RequestQueue::open_second(std::int64_t second) {
  ENSURE(second > arriving_.second && arrived_in_second_ == arriving_.offsets.size());
  const bool is_head_here = head_second_ == arriving_.second;
  if (waiting_ > 0 && is_head_here) {
    std::swap(lagging_, arriving_);  // the head is in an earlier second: keep that second rather than draw it again
  }
  load(second, arriving_);
  arrived_in_second_ = 0;
  if (waiting_ == 0) {
    head_second_ = second;
    head_index_ = 0;
  }
  return static_cast<std::int64_t>(arriving_.offsets.size());
}

void RequestQueue::arrive_before(std::int64_t until_us) {
  const std::vector<std::uint32_t>& offsets = arriving_.offsets;
  const std::int64_t limit = until_us - arriving_.begin_us;
  std::size_t next = arrived_in_second_;
  while (next < offsets.size() && static_cast<std::int64_t>(offsets[next]) < limit) ++next;
  waiting_ += static_cast<std::int64_t>(next - arrived_in_second_);
  arrived_in_second_ = next;
}

void RequestQueue::seek_next_second() {
  ENSURE(waiting_ > 0);
  while (head_index_ >= head_size()) {
    ++head_second_;
    head_index_ = 0;
    ENSURE(head_second_ <= arriving_.second);
    if (head_second_ == arriving_.second) continue;
    if (stream_.count(head_second_) == 0) {
      lagging_.offsets.clear();
      continue;
    }
    load(head_second_, lagging_);
  }
}

RequestQueue::Dropped RequestQueue::drop_head_second() {
  ENSURE(waiting_ > 0);
  while (head_index_ >= head_size()) {
    ++head_second_;
    head_index_ = 0;
    lagging_.offsets.clear();
    if (head_second_ == arriving_.second || stream_.count(head_second_) > 0) break;
  }
  Dropped dropped{.second = head_second_};
  const auto gone = static_cast<std::int64_t>(head_index_);
  if (head_second_ == arriving_.second) {
    dropped.count = static_cast<std::int64_t>(arrived_in_second_) - gone;
    head_index_ = arrived_in_second_;
  } else {
    const auto loaded = std::ssize(lagging_.offsets);
    dropped.count = (loaded > 0 ? loaded : stream_.count(head_second_)) - gone;
    lagging_.offsets.clear();
    head_index_ = 0;
  }
  waiting_ -= dropped.count;
  return dropped;
}

void RequestQueue::take(std::int64_t count, std::vector<std::int64_t>& taken) {
  ENSURE(count <= waiting_);
  std::int64_t rest = count;
  while (rest > 0) {
    seek_head();
    const SecondOfRequests& block = head_block();
    const std::size_t available = block.offsets.size() - head_index_;
    const std::size_t now = std::min(available, static_cast<std::size_t>(rest));
    for (std::size_t i = 0; i < now; ++i) taken.push_back(block.begin_us + block.offsets[head_index_ + i]);
    head_index_ += now;
    waiting_ -= static_cast<std::int64_t>(now);
    rest -= static_cast<std::int64_t>(now);
  }
}

}  // namespace berth::sim
