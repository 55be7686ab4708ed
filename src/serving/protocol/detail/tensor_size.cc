#include "serving/protocol/detail/tensor_size.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::serving::protocol::detail {

std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  bool is_empty = false;
  for (const std::int64_t size : shape) {
    ENSURE(size >= 0);
    is_empty = is_empty || size == 0;
    if (__builtin_mul_overflow(count, std::max<std::int64_t>(size, 1), &count)) return std::nullopt;
    if (count > kElementCountMax) return std::nullopt;
  }
  return is_empty ? 0 : count;
}

}  // namespace berth::serving::protocol::detail
