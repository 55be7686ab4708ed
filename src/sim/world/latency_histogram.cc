#include "sim/world/latency_histogram.h"

#include "base/core/ensure.h"

namespace berth::sim {

void LatencyHistogram::add_all(const LatencyHistogram& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size(), 0);
  for (std::size_t bucket = 0; bucket < other.counts_.size(); ++bucket) counts_[bucket] += other.counts_[bucket];
  count_ += other.count_;
  sum_us_ += other.sum_us_;
}

std::optional<double> LatencyHistogram::mean_ms() const {
  if (count_ == 0) return std::nullopt;
  return static_cast<double>(sum_us_) / static_cast<double>(count_) / 1000.0;
}

std::optional<double> LatencyHistogram::percentile_ms(int percent) const {
  ENSURE(percent >= 1 && percent <= 100);
  if (count_ == 0) return std::nullopt;
  const auto rank = static_cast<std::uint64_t>((Wide{count_} * static_cast<unsigned>(percent) + 99) / 100);
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    seen += counts_[bucket];
    if (seen >= rank) return middle_of(bucket) / 1000.0;
  }
  ENSURE(false && "ranks reach the count");
  return std::nullopt;
}

void LatencyHistogram::reach(std::size_t bucket) {
  constexpr std::size_t kStep = std::size_t{1} << kSubBits;
  counts_.resize((bucket / kStep + 1) * kStep, 0);
}

double LatencyHistogram::middle_of(std::size_t bucket) {
  constexpr std::size_t kExactCount = std::size_t{1} << kExactBits;
  if (bucket < kExactCount) return static_cast<double>(bucket);
  const std::size_t above = bucket - kExactCount;
  const auto shift = static_cast<int>(above >> kSubBits) + kExactBits - kSubBits;
  const std::uint64_t sub = above & ((1U << kSubBits) - 1);
  const std::uint64_t low = ((std::uint64_t{1} << kSubBits) + sub) << shift;
  const std::uint64_t width = std::uint64_t{1} << shift;
  return static_cast<double>(low) + static_cast<double>(width - 1) / 2.0;
}

}  // namespace berth::sim
