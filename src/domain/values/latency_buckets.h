/// Latencies counted in buckets, as a short list: for a second or a minute of one service.
/// (sim/world/latency_histogram.h is finer, and for whole runs.)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace berth {

struct LatencyBucket {
  std::uint32_t bucket = 0;
  std::int64_t count = 0;  ///< of answers
  friend bool operator==(const LatencyBucket&, const LatencyBucket&) = default;
};

/// Ascending, no bucket twice.
using LatencyBuckets = std::vector<LatencyBucket>;

/// The greatest bucket that a latency can have.
inline constexpr std::uint32_t kLatencyBucketMax = (1U << 13U) - 1;

/// Buckets are exact below 2^8 microseconds; above they are 2^7 of equal width per doubling, so that their middle is at
/// most 0.4 % away from the values in them. Requires: latency_us >= 0.
[[nodiscard]] std::uint32_t latency_bucket_of(std::int64_t latency_us);
/// The middle of a bucket, in microseconds.
[[nodiscard]] double latency_bucket_middle_us(std::uint32_t bucket);

/// Sorts entries in any order into a list, merging equal buckets.
void sort_buckets(LatencyBuckets& buckets);
/// Adds the counts of `more` to `sum`. O(size of both).
void add_buckets(LatencyBuckets& sum, const LatencyBuckets& more);
/// Merges each 8 buckets into one, in their middle: at most 3.6 % away from values above 2^8 microseconds, and 4
/// microseconds from those below.
[[nodiscard]] LatencyBuckets coarser_buckets(const LatencyBuckets& buckets);

/// The percentile by nearest rank in microseconds, for `percent` in 1 .. 100; absent without answers.
[[nodiscard]] std::optional<double> percentile_us(const LatencyBuckets& buckets, int percent);

}  // namespace berth
