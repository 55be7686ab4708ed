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

std::optional<double> MinuteFigures::goodput() const {
  constexpr double kMicrosPerUnit = 1e6;
  if (requests == 0) return std::nullopt;
  return static_cast<double>(accuracy_sum_micro) / kMicrosPerUnit / static_cast<double>(requests);
}

void ServiceMinute::add(const sim::MeasuredSecond& measured, Micros target) {
  add_arrived(measured, target);
  add_latencies(measured);
}

void ServiceMinute::add_arrived(const sim::MeasuredSecond& measured, Micros target) {
  const std::int64_t second = measured.seen.second;
  if (!arrived_.empty() && arrived_.back().settled.second + 1 != second) arrived_.clear();
  arrived_.push_back({.requests = measured.seen.arrivals, .settled = {.second = second}});
  for (const sim::SettledRequests& each : measured.settled) {
    const std::int64_t place = each.second - arrived_.front().settled.second;
    if (place < 0 || place >= std::ssize(arrived_)) continue;  // left the window
    sim::SettledRequests& settled = arrived_[static_cast<std::size_t>(place)].settled;
    settled.in_time += each.in_time;
    settled.late += each.late;
    settled.dropped += each.dropped;
    settled.accuracy_sum_micro += each.accuracy_sum_micro;
  }
  const std::int64_t seconds = (target + Micros::seconds(1) - Micros(1)).count() / Micros::seconds(1).count();
  target_seconds_ = static_cast<std::size_t>(std::clamp(seconds, std::int64_t{0}, kTargetSecondsMax));
  while (arrived_.size() > kMinuteSeconds + target_seconds_) arrived_.pop_front();
}

void ServiceMinute::add_latencies(const sim::MeasuredSecond& measured) {
  Latencies latencies;
  for (const sim::LatencyCount& each : measured.latencies) {
    latencies.push_back({.bucket = bucket_of(each.latency_us), .count = each.count});
  }
  std::ranges::sort(latencies, {}, &BucketCount::bucket);
  std::size_t kept = 0;
  for (const BucketCount each : latencies) {
    if (kept > 0 && latencies[kept - 1].bucket == each.bucket) {
      latencies[kept - 1].count += each.count;
    } else {
      latencies[kept++] = each;
    }
  }
  latencies.resize(kept);
  latencies.shrink_to_fit();
  count(latencies, 1);
  latencies_.push_back(std::move(latencies));
  if (latencies_.size() <= kMinuteSeconds) return;
  count(latencies_.front(), -1);
  latencies_.pop_front();
}

void ServiceMinute::count(const Latencies& latencies, int sign) {
  for (const BucketCount& each : latencies) {
    if (each.bucket >= buckets_.size()) buckets_.resize(each.bucket + std::size_t{1}, 0);
    buckets_[each.bucket] += sign * each.count;
    latency_count_ += sign * each.count;
  }
}

std::optional<MinuteFigures> ServiceMinute::figures() const {
  if (arrived_.size() <= target_seconds_) return std::nullopt;
  MinuteFigures figures;
  for (std::size_t i = 0; i < arrived_.size() - target_seconds_; ++i) {
    const Arrived& second = arrived_[i];
    figures.seconds += 1;
    figures.requests += second.requests;
    figures.in_time += second.settled.in_time;
    figures.late += second.settled.late;
    figures.dropped += second.settled.dropped;
    figures.accuracy_sum_micro += second.settled.accuracy_sum_micro;
  }
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
  const double busy = (last.sm_time.busy_us - first.sm_time.busy_us) / whole;
  // A slice may still answer at a point of an earlier spec, which cost less than the best one of the present spec.
  const double effective = std::min(busy, (last.effective_us - first.effective_us) / whole);
  return FunnelShares{.allocated = (last.sm_time.allocated_us - first.sm_time.allocated_us) / whole,
                      .busy = busy,
                      .effective = effective};
}

}  // namespace berth::live
