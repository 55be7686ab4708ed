/// Sums of the arrivals over any range of recent seconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace berth::scale::detail {

/// Slightly more than a day, the longest time over which a mean is taken.
inline constexpr std::int64_t kMemorySeconds = std::int64_t{1} << 17;

/// Remembers the running total of the last kMemorySeconds seconds: 1 MiB. O(1) each.
class RecentSums {
 public:
  /// Nothing is known before second `first`.
  explicit RecentSums(std::int64_t first) : first_(first), next_(first), totals_(kMemorySeconds) {}

  /// The arrivals of the next second.
  void observe(std::int64_t requests) {
    const std::int64_t total = totals_[place(next_)] + requests;
    ++next_;
    totals_[place(next_)] = total;
  }

  /// The second after the last one that was observed.
  [[nodiscard]] std::int64_t next() const { return next_; }
  [[nodiscard]] std::int64_t first() const { return first_; }
  /// The arrivals of [from, to), as far as they are known. Requires: to <= next(), next() - from < kMemorySeconds.
  [[nodiscard]] std::int64_t sum(std::int64_t from, std::int64_t to) const {
    from = std::max(from, first_);
    return to > from ? totals_[place(to)] - totals_[place(from)] : 0;
  }
  /// The mean arrivals per second of the known part of [from, to); 0 if none of it is known.
  [[nodiscard]] double mean(std::int64_t from, std::int64_t to) const {
    from = std::max(from, first_);
    return to > from ? static_cast<double>(sum(from, to)) / static_cast<double>(to - from) : 0;
  }

 private:
  /// Seconds of the history are negative; masking their two's complement works for them too.
  [[nodiscard]] static std::size_t place(std::int64_t second) {
    return static_cast<std::size_t>(second & (kMemorySeconds - 1));
  }

  std::int64_t first_ = 0;
  std::int64_t next_ = 0;
  std::vector<std::int64_t> totals_;  ///< of [first, second), by place
};

}  // namespace berth::scale::detail
