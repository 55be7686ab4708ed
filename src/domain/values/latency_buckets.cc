#include "domain/values/latency_buckets.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace berth {
namespace {

constexpr std::uint32_t kExactBits = 8;
constexpr std::uint32_t kSubBits = kExactBits - 1;
constexpr std::uint32_t kCoarseBits = 3;

}  // namespace

std::uint32_t latency_bucket_of(std::int64_t latency_us) {
  const auto value = static_cast<std::uint64_t>(latency_us);
  if (value < (1U << kExactBits)) return static_cast<std::uint32_t>(value);
  const std::uint32_t shift = 63U - static_cast<std::uint32_t>(std::countl_zero(value)) - kSubBits;  // > 0
  return (shift << kSubBits) + static_cast<std::uint32_t>(value >> shift);
}

double latency_bucket_middle_us(std::uint32_t bucket) {
  if (bucket < (1U << kExactBits)) return bucket;
  const std::uint32_t shift = (bucket >> kSubBits) - 1;
  const std::uint64_t low = std::uint64_t{bucket - (shift << kSubBits)} << shift;
  return static_cast<double>(low) + static_cast<double>((std::uint64_t{1} << shift) - 1) / 2;
}

void sort_buckets(LatencyBuckets& buckets) {
  std::ranges::sort(buckets, {}, &LatencyBucket::bucket);
  std::size_t kept = 0;
  for (const LatencyBucket each : buckets) {
    if (kept > 0 && buckets[kept - 1].bucket == each.bucket) {
      buckets[kept - 1].count += each.count;
    } else {
      buckets[kept++] = each;
    }
  }
  buckets.resize(kept);
}

void add_buckets(LatencyBuckets& sum, const LatencyBuckets& more) {
  if (more.empty()) return;
  LatencyBuckets both;
  both.reserve(sum.size() + more.size());
  auto left = sum.begin();
  for (const LatencyBucket& each : more) {
    while (left != sum.end() && left->bucket < each.bucket) both.push_back(*left++);
    both.push_back(each);
    if (left != sum.end() && left->bucket == each.bucket) both.back().count += left++->count;
  }
  both.insert(both.end(), left, sum.end());
  sum = std::move(both);
}

LatencyBuckets coarser_buckets(const LatencyBuckets& buckets) {
  LatencyBuckets coarser;
  for (const LatencyBucket& each : buckets) {
    const std::uint32_t middle = (each.bucket >> kCoarseBits << kCoarseBits) + (1U << (kCoarseBits - 1));
    if (coarser.empty() || coarser.back().bucket != middle) coarser.push_back({.bucket = middle});
    coarser.back().count += each.count;
  }
  return coarser;
}

std::optional<double> percentile_us(const LatencyBuckets& buckets, int percent) {
  std::int64_t count = 0;
  for (const LatencyBucket& each : buckets) count += each.count;
  const std::int64_t rank = (count * percent + 99) / 100;
  std::int64_t seen = 0;
  for (const LatencyBucket& each : buckets) {
    seen += each.count;
    if (seen >= rank && seen > 0) return latency_bucket_middle_us(each.bucket);
  }
  return std::nullopt;
}

}  // namespace berth
