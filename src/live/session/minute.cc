#include "live/session/minute.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"
#include "sim/world/service_meter.h"

namespace berth::live {

// ---- a service

std::optional<double> MinuteFigures::goodput() const {
  constexpr double kMicrosPerUnit = 1e6;
  if (requests == 0) return std::nullopt;
  return static_cast<double>(accuracy_sum_micro) / kMicrosPerUnit / static_cast<double>(requests);
}

ServiceFigures figures_of(const sim::MeasuredSecond& measured) {
  ServiceFigures figures{.requests = measured.seen.arrivals, .queued_max = measured.seen.queued};
  figures.batches = measured.batches;
  figures.settled = measured.settled;
  for (const SettledRequests& each : measured.settled) {
    figures.in_time += each.in_time;
    figures.late += each.late;
    figures.dropped += each.dropped;
    figures.accuracy_sum_micro += each.accuracy_sum_micro;
  }
  figures.latencies.reserve(measured.latencies.size());
  for (const sim::LatencyCount& each : measured.latencies) {
    figures.latencies.push_back({.bucket = latency_bucket_of(each.latency_us), .count = each.count});
  }
  sort_buckets(figures.latencies);
  return figures;
}

double least_rate(std::vector<ArrivedPart> parts, double share) {
  std::ranges::sort(parts, {}, [](const ArrivedPart& part) { return part.requests / part.seconds; });
  double wanted = 0;
  double seconds = 0;
  for (const ArrivedPart& part : parts) {
    wanted += share * part.requests;
    seconds += part.seconds;
  }
  // Parts whose own rate is below the one that the rest needs are served whole.
  for (const ArrivedPart& part : parts) {
    if (wanted <= part.requests / part.seconds * seconds) return wanted / seconds;
    wanted -= part.requests;
    seconds -= part.seconds;
  }
  return parts.empty() ? 0 : parts.back().requests / parts.back().seconds;
}

void ServiceMinute::add(std::int64_t second, const ServiceFigures& figures, Micros target) {
  skip_to(second);
  add_arrived(second, figures, target);
  LatencyBuckets latencies = figures.latencies;
  latencies.shrink_to_fit();
  add_latencies(std::move(latencies));
}

void ServiceMinute::skip_to(std::int64_t second) {
  if (arrived_.empty()) return;
  const std::int64_t next = arrived_.back().settled.second + 1;
  ENSURE(next <= second);
  if (second - next >= static_cast<std::int64_t>(kMinuteSeconds) + kTargetSecondsMax) {
    *this = ServiceMinute();  // all of it has left the window
    return;
  }
  for (std::int64_t missing = next; missing < second; ++missing) {
    arrived_.push_back({.settled = {.second = missing}, .is_known = false});
    add_latencies({});
  }
}

void ServiceMinute::add_arrived(std::int64_t second, const ServiceFigures& figures, Micros target) {
  arrived_.push_back({.requests = figures.requests, .settled = {.second = second}});
  for (const SettledRequests& each : figures.settled) {
    const std::int64_t place = each.second - arrived_.front().settled.second;
    if (place < 0 || place >= std::ssize(arrived_)) continue;  // left the window
    Arrived& arrived = arrived_[static_cast<std::size_t>(place)];
    if (!arrived.is_known) continue;  // nor are its requests
    SettledRequests& settled = arrived.settled;
    settled.in_time += each.in_time;
    settled.late += each.late;
    settled.dropped += each.dropped;
    settled.accuracy_sum_micro += each.accuracy_sum_micro;
  }
  const std::int64_t seconds = (target + Micros::seconds(1) - Micros(1)).count() / Micros::seconds(1).count();
  target_seconds_ = static_cast<std::size_t>(std::clamp(seconds, std::int64_t{0}, kTargetSecondsMax));
  while (arrived_.size() > kMinuteSeconds + target_seconds_) arrived_.pop_front();
}

void ServiceMinute::add_latencies(LatencyBuckets latencies) {
  count(latencies, 1);
  latencies_.push_back(std::move(latencies));
  if (latencies_.size() <= kMinuteSeconds) return;
  count(latencies_.front(), -1);
  latencies_.pop_front();
}

void ServiceMinute::count(const LatencyBuckets& latencies, int sign) {
  for (const LatencyBucket& each : latencies) {
    if (each.bucket >= buckets_.size()) buckets_.resize(each.bucket + std::size_t{1}, 0);
    buckets_[each.bucket] += sign * each.count;
    latency_count_ += sign * each.count;
  }
}

std::optional<MinuteFigures> ServiceMinute::counts() const {
  if (arrived_.size() <= target_seconds_) return std::nullopt;
  MinuteFigures figures;
  for (std::size_t i = 0; i < arrived_.size() - target_seconds_; ++i) {
    const Arrived& second = arrived_[i];
    figures.seconds += second.is_known ? 1 : 0;
    figures.requests += second.requests;
    figures.in_time += second.settled.in_time;
    figures.late += second.settled.late;
    figures.dropped += second.settled.dropped;
    figures.accuracy_sum_micro += second.settled.accuracy_sum_micro;
  }
  return figures;
}

std::optional<MinuteFigures> ServiceMinute::figures() const {
  auto figures = counts();
  if (!figures) return figures;
  figures->latency_p50_ms = percentile_ms(50);
  figures->latency_p99_ms = percentile_ms(99);
  return figures;
}

std::optional<double> ServiceMinute::rate_for(double share) const {
  if (arrived_.size() <= target_seconds_) return std::nullopt;
  const auto length = static_cast<double>(std::max<std::size_t>(1, target_seconds_));
  std::vector<ArrivedPart> parts;
  for (std::size_t i = 0; i < arrived_.size() - target_seconds_; ++i) {
    if (!arrived_[i].is_known) continue;
    if (parts.empty() || parts.back().seconds >= length) parts.emplace_back();
    parts.back().requests += static_cast<double>(arrived_[i].requests);
    parts.back().seconds += 1;
  }
  return least_rate(std::move(parts), share);
}

std::optional<double> ServiceMinute::percentile_ms(int percent) const {
  if (latency_count_ == 0) return std::nullopt;
  const std::int64_t rank = (latency_count_ * percent + 99) / 100;
  std::int64_t seen = 0;
  for (std::uint32_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) return latency_bucket_middle_us(bucket) / 1000;
  }
  ENSURE(false && "ranks reach the count");
  return std::nullopt;
}

// ---- the fleet

std::optional<FleetFigures> FleetMinute::read(const Reading& reading, std::int64_t fleet_sms, double effective_us) {
  const std::optional<Reading> last = std::exchange(last_, reading);
  if (!last || last->at == reading.at) return std::nullopt;
  const std::int64_t covered_us = (reading.at - last->at).count();
  return FleetFigures{.covered_us = covered_us,
                      .available_us = static_cast<double>(fleet_sms) * static_cast<double>(covered_us),
                      .allocated_us = reading.sm_time.allocated_us - last->sm_time.allocated_us,
                      .busy_us = reading.sm_time.busy_us - last->sm_time.busy_us,
                      .effective_us = effective_us};
}

void FleetMinute::add(Instant until, const FleetFigures& figures) {
  ENSURE(spans_.empty() || spans_.back().until <= until);
  spans_.push_back({.until = until, .figures = figures});
  while (spans_.front().until <= until - Micros::seconds(kMinuteSeconds)) spans_.pop_front();
}

std::optional<FunnelShares> FleetMinute::shares() const {
  FleetFigures sum;
  for (const Span& span : spans_) add_figures(sum, span.figures);
  if (!(sum.available_us > 0)) return std::nullopt;
  const double busy = sum.busy_us / sum.available_us;
  // A slice may still answer at a point of an earlier spec, which cost less than the best one of the present spec.
  return FunnelShares{.allocated = sum.allocated_us / sum.available_us,
                      .busy = busy,
                      .effective = std::min(busy, sum.effective_us / sum.available_us)};
}

}  // namespace berth::live
