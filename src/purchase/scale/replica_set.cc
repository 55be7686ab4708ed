#include "purchase/scale/replica_set.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::scale {

void ReplicaSet::advance(std::int64_t second) {
  while (!starts_.empty() && starts_.front().ready_at <= second) {
    ready_ += starts_.front().count;
    starting_ -= starts_.front().count;
    starts_.pop_front();
  }
}

void ReplicaSet::resize(std::int64_t want, std::int64_t second) {
  ENSURE(want >= 0);
  if (want > size()) start(want - size(), second);
  if (want < size()) stop(size() - want);
}

void ReplicaSet::start(std::int64_t count, std::int64_t second) {
  if (start_seconds_ == 0) {
    ready_ += count;
    return;
  }
  starts_.push_back({.ready_at = second + start_seconds_, .count = count});
  starting_ += count;
}

void ReplicaSet::stop(std::int64_t count) {
  while (count > 0 && !starts_.empty()) {
    Start& newest = starts_.back();
    const std::int64_t stopped = std::min(count, newest.count);
    newest.count -= stopped;
    starting_ -= stopped;
    count -= stopped;
    if (newest.count == 0) starts_.pop_back();
  }
  ready_ -= count;
}

}  // namespace berth::scale
