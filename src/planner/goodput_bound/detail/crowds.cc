#include "planner/goodput_bound/detail/crowds.h"

#include <algorithm>

namespace berth::bound::detail {
namespace {

/// Shorter bins cost more than they gain.
constexpr std::int64_t kBinMicrosMin = 1000;

}  // namespace

Crowds::Crowds(Blocks blocks, std::int64_t window_seconds, std::int64_t target_us, int bins_max,
               const std::function<void(std::int64_t, std::vector<std::uint32_t>&)>& offsets)
    : bin_us_(std::max(kBinMicrosMin, (target_us + bins_max - 1) / bins_max)) {
  const auto steps_count = static_cast<std::size_t>((target_us + bin_us_ - 1) / bin_us_ + 1);
  most_.assign(steps_count, std::vector<std::int64_t>(static_cast<std::size_t>(blocks.count())));
  // sums[i % size]: requests before bin i.
  std::vector<std::int64_t> sums(steps_count + 2);
  std::vector<std::uint32_t> second_offsets;
  std::int64_t second = -1;
  std::size_t next = 0;
  const std::int64_t bin_count = (blocks.end_us + bin_us_ - 1) / bin_us_;
  std::int64_t sum = 0;
  const auto size = static_cast<std::int64_t>(sums.size());
  for (std::int64_t bin = 0; bin < bin_count; ++bin) {
    const std::int64_t begin_us = bin * bin_us_;
    const std::int64_t end_us = begin_us + bin_us_;
    while (true) {
      for (; next < second_offsets.size() && second * kMicrosPerSecond + second_offsets[next] < end_us; ++next) ++sum;
      if (next < second_offsets.size() || (second + 1) * kMicrosPerSecond >= end_us || second + 1 >= window_seconds)
        break;
      second_offsets.clear();
      next = 0;
      offsets(++second, second_offsets);
    }
    sums[static_cast<std::size_t>((bin + 1) % size)] = sum;
    const int last = blocks.of(end_us + target_us);
    for (int block = blocks.of(begin_us); block <= last; ++block) {
      for (std::size_t steps = 0; steps < steps_count; ++steps) {
        const std::int64_t from = std::max<std::int64_t>(0, bin - static_cast<std::int64_t>(steps));
        std::int64_t& most = most_[steps][static_cast<std::size_t>(block)];
        most = std::max(most, sum - sums[static_cast<std::size_t>(from % size)]);
      }
    }
  }
}

}  // namespace berth::bound::detail
