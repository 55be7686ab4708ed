#include "live/minute.h"

#include <algorithm>
#include <bit>

#include "base/ensure.h"

namespace berth::live {
namespace {

/// Buckets: exact below 2^8 microseconds, then 2^7 of equal width per doubling.
constexpr int kExactBits = 8;
constexpr int kSubBits = kExactBits - 1;

std::uint32_t bucket_of(std::int64_t latency_us) {
  const auto value = static_cast<std::uint64_t>(latency_us);
  if (value < (1U << kExactBits)) return static_cast<std::uint32_t>(value);
  const int shift = 63 - std::countl_zero(value) - kSubBits;  // > 0
  return (static_cast<std::uint32_t>(shift) << kSubBits) + static_cast<std::uint32_t>(value >> shift);
}

double middle_us(std::uint32_t bucket) {
  if (bucket < (1U << kExactBits)) return bucket;
  const std::uint32_t shift = (bucket >> kSubBits) - 1;
  const std::uint64_t low = std::uint64_t{bucket - (shift << kSubBits)} << shift;
  return static_cast<double>(low) + static_cast<double>((std::uint64_t{1} << shift) - 1) / 2;
}

}  // namespace

// ---- a service

std::int64_t MinuteFigures::judged() const { return std::max(requests, in_time + late + dropped); }

std::optional<double> MinuteFigures::goodput() const {
  constexpr double kMicrosPerUnit = 1e6;
  if (judged() == 0) return std::nullopt;
  return static_cast<double>(accuracy_sum_micro) / kMicrosPerUnit / static_cast<double>(judged());
}

void ServiceMinute::add(const sim::MeasuredSecond& measured) {
  Second second;
  second.counts = {.seconds = 1,
                   .requests = measured.seen.arrivals,
                   .in_time = measured.seen.in_time,
                   .late = measured.seen.late,
                   .dropped = measured.seen.dropped,
                   .accuracy_sum_micro = measured.accuracy_sum_micro};
  for (const sim::LatencyCount& each : measured.latencies) {
    second.latencies.push_back({.bucket = bucket_of(each.latency_us), .count = each.count});
  }
  std::ranges::sort(second.latencies, {}, &BucketCount::bucket);
  std::size_t kept = 0;
  for (const BucketCount each : second.latencies) {
    if (kept > 0 && second.latencies[kept - 1].bucket == each.bucket) {
      second.latencies[kept - 1].count += each.count;
    } else {
      second.latencies[kept++] = each;
    }
  }
  second.latencies.resize(kept);
  second.latencies.shrink_to_fit();
  count(second, 1);
  seconds_.push_back(std::move(second));
  if (seconds_.size() <= kMinuteSeconds) return;
  count(seconds_.front(), -1);
  seconds_.pop_front();
}

void ServiceMinute::count(const Second& second, int sign) {
  sum_.seconds += sign * second.counts.seconds;
  sum_.requests += sign * second.counts.requests;
  sum_.in_time += sign * second.counts.in_time;
  sum_.late += sign * second.counts.late;
  sum_.dropped += sign * second.counts.dropped;
  sum_.accuracy_sum_micro += sign * second.counts.accuracy_sum_micro;
  for (const BucketCount& each : second.latencies) {
    if (each.bucket >= buckets_.size()) buckets_.resize(each.bucket + std::size_t{1}, 0);
    buckets_[each.bucket] += sign * each.count;
    latency_count_ += sign * each.count;
  }
}

std::optional<MinuteFigures> ServiceMinute::figures() const {
  if (seconds_.empty()) return std::nullopt;
  MinuteFigures figures = sum_;
  figures.latency_p50_ms = percentile_ms(50);
  figures.latency_p99_ms = percentile_ms(99);
  return figures;
}

std::optional<double> ServiceMinute::percentile_ms(int percent) const {
  if (latency_count_ == 0) return std::nullopt;
  const std::int64_t rank = (latency_count_ * percent + 99) / 100;
  std::int64_t seen = 0;
  for (std::uint32_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) return middle_us(bucket) / 1000;
  }
  ENSURE(false && "ranks reach the count");
  return std::nullopt;
}

// ---- the fleet

void FleetMinute::add(const Reading& reading) {
  ENSURE(readings_.empty() || readings_.back().at < reading.at);
  readings_.push_back(reading);
  if (readings_.size() > kMinuteSeconds + 1) readings_.pop_front();
}

std::optional<FunnelShares> FleetMinute::shares(std::int64_t fleet_sms) const {
  if (readings_.size() < 2 || fleet_sms == 0) return std::nullopt;
  const Reading& first = readings_.front();
  const Reading& last = readings_.back();
  const double whole = static_cast<double>(fleet_sms) * static_cast<double>((last.at - first.at).count());
  return FunnelShares{.allocated = (last.sm_time.allocated_us - first.sm_time.allocated_us) / whole,
                      .busy = (last.sm_time.busy_us - first.sm_time.busy_us) / whole,
                      .effective = (last.effective_us - first.effective_us) / whole};
}

}  // namespace berth::live
