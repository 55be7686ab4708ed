#include "purchase/scale/wait_queue.h"

#include "base/core/ensure.h"

namespace berth::scale {

std::int64_t WaitQueue::serve(std::int64_t second, std::int64_t capacity) {
  ENSURE(capacity >= 0);
  for (; head_ < second - wait_seconds_; pass_head()) missed_ += head_left();
  std::int64_t left = capacity;
  while (left > 0 && head_ <= second) {
    if (head_left() > left) {
      head_taken_ += left;
      return capacity;
    }
    left -= head_left();
    pass_head();
  }
  return capacity - left;
}

}  // namespace berth::scale
