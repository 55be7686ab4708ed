#include "sim/rate_serving.h"

#include <algorithm>
#include <cmath>

#include "base/instant.h"

namespace berth::sim {
namespace {

/// Latency of a batch of n with a fractional number of others busy, linear between whole numbers.
double latency_with(const LatencyTable& table, double others, int n) {
  const int low = static_cast<int>(others);
  const auto at = [&](int k) { return static_cast<double>(table.with_others(k)[n - 1]); };
  return at(low) + (others - low) * (at(low + 1) - at(low));
}

/// The largest batch whose latency is within the target; 0 when none is.
int largest_batch_in_time(const LatencyTable& table, double others, std::int64_t target_us) {
  for (int n = table.point.batch; n > 0; --n) {
    if (latency_with(table, others, n) <= static_cast<double>(target_us)) return n;
  }
  return 0;
}

}  // namespace

RateServing::RateServing(const Scenario& scenario, const std::vector<ArrivalStream>& streams,
                         std::vector<ServiceMeter>& meters, BusyTable& busy)
    : scenario_(scenario),
      streams_(streams),
      meters_(meters),
      busy_(busy),
      services_(scenario.services.size()),
      busy_by_gpu_(scenario.gpu_count(), 0) {}

void RateServing::open_second(std::int64_t second) {
  second_ = second;
  for (std::size_t index = 0; index < services_.size(); ++index) {
    services_[index].arrivals_in_second = streams_[index].count(second);
    services_[index].arrived_in_second = 0;
    if (services_[index].arrivals_in_second > 0) meters_[index].expect(second, services_[index].arrivals_in_second);
  }
}

std::int64_t RateServing::advance(std::int64_t until_us) {
  if (until_us > now_us_) {
    std::fill(busy_by_gpu_.begin(), busy_by_gpu_.end(), 0.0);
    for (const Service& service : services_) {
      for (const Replica& replica : service.replicas) busy_by_gpu_[replica.gpu.index] += replica.busy_share;
    }
    for (std::size_t index = 0; index < services_.size(); ++index) run_service(index, until_us);
    now_us_ = until_us;
  }
  return until_us;
}

void RateServing::run_service(std::size_t index, std::int64_t until_us) {
  const Capacity capacity = capacity_of(index);
  const std::int64_t span_us = until_us - now_us_;
  arrive(index, capacity, until_us);
  serve(index, capacity, span_us, until_us);
  if (scenario_.services[index].drop == DropRule::kEarly) drop(index, capacity, until_us);
}

RateServing::Capacity RateServing::capacity_of(std::size_t index) const {
  const ServiceSpec& spec = scenario_.services[index];
  Capacity capacity;
  for (const Replica& replica : services_[index].replicas) {
    const LatencyTable& table = *replica.table;
    const double others = std::max(0.0, busy_by_gpu_[replica.gpu.index] - replica.busy_share);
    int batch = largest_batch_in_time(table, others, spec.target.count());
    if (batch == 0) {
      if (spec.drop == DropRule::kEarly) continue;  // it takes nothing: every head would be late
      batch = table.point.batch;
    }
    const double latency_us = latency_with(table, others, batch);
    const double per_us = table.point.processes * batch / latency_us;
    const int variant = table.point.variant;
    const Accuracy& accuracy =
        variant == 0 ? spec.accuracy : spec.variants[static_cast<std::size_t>(variant) - 1].accuracy;
    const auto worth = static_cast<double>(services_[index].is_stale ? accuracy.before_micro : accuracy.after_micro);
    capacity.per_us += per_us;
    capacity.latency_us = std::max(capacity.latency_us, latency_us);
    capacity.mean_accuracy += per_us * worth;
  }
  if (capacity.per_us > 0) capacity.mean_accuracy /= capacity.per_us;
  return capacity;
}

void RateServing::arrive(std::size_t index, const Capacity& capacity, std::int64_t until_us) {
  Service& service = services_[index];
  const std::int64_t into_second_us = until_us - second_ * kMicrosPerSecond;
  const std::int64_t come = service.arrivals_in_second * into_second_us / kMicrosPerSecond;
  const std::int64_t count = come - service.arrived_in_second;
  if (count == 0) return;
  service.arrived_in_second = come;
  Cohort cohort{.second = second_, .in_time = count, .late = 0};
  if (scenario_.services[index].drop == DropRule::kNever && capacity.per_us > 0) {
    // Arrivals meet a backlog that goes from `first` to `last` in a line; those above `limit` will be late.
    const auto first = static_cast<double>(service.waiting_count);
    const double last =
        std::max(0.0, first + static_cast<double>(count) - capacity.per_us * static_cast<double>(until_us - now_us_));
    const double limit =
        capacity.per_us * (static_cast<double>(scenario_.services[index].target.count()) - capacity.latency_us);
    const double low = std::min(first, last);
    const double high = std::max(first, last);
    const double share = high <= limit ? 0 : low >= limit ? 1 : (high - limit) / (high - low);
    cohort.late = std::llround(share * static_cast<double>(count));
    cohort.in_time = count - cohort.late;
  }
  service.waiting.push_back(cohort);
  service.waiting_count += count;
}

void RateServing::serve(std::size_t index, const Capacity& capacity, std::int64_t span_us, std::int64_t at_us) {
  Service& service = services_[index];
  const double possible = capacity.per_us * static_cast<double>(span_us) + service.served_carry;
  std::int64_t left = std::min(service.waiting_count, static_cast<std::int64_t>(possible));
  const double share = possible > 0 ? std::min(1.0, static_cast<double>(left) / possible) : 0;
  service.served_carry = left < service.waiting_count ? possible - static_cast<double>(left) : 0;
  for (Replica& replica : service.replicas) {
    replica.busy_share = share;
    busy_.add_share(replica.slice, replica.service, share, span_us);
  }
  if (left == 0) return;
  const double mean_rate = static_cast<double>(left) / static_cast<double>(span_us);
  const double wait_us = static_cast<double>(service.waiting_count - left) / capacity.per_us;
  meters_[index].add_latency(std::llround(wait_us + latency_at_load(service, mean_rate)), left);
  const auto worth = static_cast<std::int64_t>(std::llround(capacity.mean_accuracy));
  while (left > 0) {
    Cohort& head = service.waiting.front();
    const std::int64_t in_time = std::min(left, head.in_time);
    const std::int64_t late = std::min(left - in_time, head.late);
    head.in_time -= in_time;
    head.late -= late;
    left -= in_time + late;
    service.waiting_count -= in_time + late;
    const std::int64_t second = head.second;
    if (head.in_time + head.late == 0) service.waiting.pop_front();
    if (late > 0) meters_[index].settle_late(second, late, Instant(at_us));
    if (in_time > 0) meters_[index].settle_in_time(second, in_time, worth, Instant(at_us));
  }
}

void RateServing::drop(std::size_t index, const Capacity& capacity, std::int64_t at_us) {
  Service& service = services_[index];
  if (service.replicas.empty()) return;  // only a process that takes drops
  const double slack_us =
      std::max(0.0, static_cast<double>(scenario_.services[index].target.count()) - capacity.latency_us);
  const auto kept = static_cast<std::int64_t>(capacity.per_us * slack_us);
  while (service.waiting_count > kept) {
    Cohort& head = service.waiting.front();
    const std::int64_t count = std::min(service.waiting_count - kept, head.in_time + head.late);
    const std::int64_t from_in_time = std::min(count, head.in_time);
    head.in_time -= from_in_time;
    head.late -= count - from_in_time;
    service.waiting_count -= count;
    const std::int64_t second = head.second;
    if (head.in_time + head.late == 0) service.waiting.pop_front();
    meters_[index].settle_dropped(second, count, Instant(at_us));
  }
}

double RateServing::latency_at_load(const Service& service, double per_us) const {
  // The smallest batch at which the replicas keep up; below that, queues grow until batches do.
  const Replica& typical = service.replicas.front();
  const auto replicas = static_cast<double>(service.replicas.size());
  const std::int64_t* latency_us = typical.table->with_others(0);
  for (int n = 1; n < typical.table->point.batch; ++n) {
    const auto latency = static_cast<double>(latency_us[n - 1]);
    if (replicas * typical.table->point.processes * n / latency >= per_us) return latency;
  }
  return static_cast<double>(latency_us[typical.table->point.batch - 1]);
}

void RateServing::start(SliceIndex index, const Slice& slice, ServiceId service,
                        std::shared_ptr<const LatencyTable> table, bool is_shared, std::int64_t /*now_us*/) {
  services_[service.index].replicas.push_back(
      {.slice = index, .gpu = slice.gpu, .service = service, .table = std::move(table), .is_shared = is_shared});
}

bool RateServing::stop(SliceIndex index, std::int64_t /*now_us*/) {
  for (Service& service : services_) {
    std::erase_if(service.replicas, [&](const Replica& replica) { return replica.slice == index; });
  }
  return true;
}

void RateServing::set_table(SliceIndex index, ServiceId id, std::shared_ptr<const LatencyTable> table) {
  for (Replica& replica : services_[id.index].replicas) {
    if (replica.slice == index) replica.table = table;
  }
}

std::int64_t RateServing::queued(ServiceId service, std::int64_t /*now_us*/) const {
  return services_[service.index].waiting_count;
}

}  // namespace berth::sim
