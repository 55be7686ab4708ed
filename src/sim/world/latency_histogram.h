/// Latencies counted in a histogram: percentiles by nearest rank within 0.05 %. Memory depends on the longest latency
/// alone: 8 KiB per doubling, 450 KiB at most.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace berth::sim {

/// Log-linear buckets: exact below 2^11 microseconds, then 2^10 buckets per doubling; the middle of a bucket is at most
/// 1/2^11 = 0.049 % away from the values in it.
class LatencyHistogram {
  __extension__ using Wide = unsigned __int128;

 public:
  /// Requires: latency_us >= 0.
  void add(std::int64_t latency_us, std::int64_t count = 1) {
    const std::size_t bucket = bucket_of(static_cast<std::uint64_t>(latency_us));
    if (bucket >= counts_.size()) reach(bucket);
    counts_[bucket] += static_cast<std::uint64_t>(count);
    count_ += static_cast<std::uint64_t>(count);
    sum_us_ += static_cast<Wide>(latency_us) * static_cast<Wide>(count);
  }
  void add_all(const LatencyHistogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Exact mean in milliseconds; absent if nothing was added.
  [[nodiscard]] std::optional<double> mean_ms() const;
  /// The percentile by nearest rank in milliseconds, for `percent` in 1 .. 100; absent if nothing was added.
  [[nodiscard]] std::optional<double> percentile_ms(int percent) const;

 private:
  static constexpr int kExactBits = 11;
  static constexpr int kSubBits = 10;

  static std::size_t bucket_of(std::uint64_t value) {
    if (value < (1U << kExactBits)) return value;
    const int magnitude = 63 - std::countl_zero(value);  // >= kExactBits
    const std::uint64_t sub = (value >> (magnitude - kSubBits)) & ((1U << kSubBits) - 1);
    return (std::size_t{1} << kExactBits) + (static_cast<std::size_t>(magnitude - kExactBits) << kSubBits) + sub;
  }
  static double middle_of(std::size_t bucket);
  /// Makes room for a bucket, in steps of a doubling.
  void reach(std::size_t bucket);

  std::vector<std::uint64_t> counts_;  ///< by bucket, up to the last one that is needed
  std::uint64_t count_ = 0;
  Wide sum_us_ = 0;
};

}  // namespace berth::sim
