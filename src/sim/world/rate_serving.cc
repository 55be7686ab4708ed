#include "sim/world/rate_serving.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/core/instant.h"

namespace berth::sim {
namespace {

/// Latency of a batch of n in microseconds with a fractional number of other busy slices, linear between whole numbers.
double latency_with(const LatencyTable& table, double others, int n) {
  const int low = static_cast<int>(others);
  const auto at = [&](int k) { return static_cast<double>(table.with_others(k).by_table[n - 1]); };
  return at(low) + (others - low) * (at(low + 1) - at(low));
}

/// The batches per microsecond of a busy replica: as many as if all were full.
struct PointLatency {
  explicit PointLatency(const LatencyTable& table)
      : per_us(table.point.processes / latency_with(table, 0, table.point.batch)) {}
  double per_us;
};

/// The largest batch whose latency is within the target; 0 when none is.
int largest_batch_in_time(const LatencyTable& table, double others, std::int64_t target_us) {
  for (int n = table.point.batch; n > 0; --n) {
    if (latency_with(table, others, n) <= static_cast<double>(target_us)) return n;
  }
  return 0;
}

/// Requests per microsecond that find no room because arrivals vary, beyond those that the means alone would lose: a
/// queue of 0 to `room` requests with Poisson arrivals, in the stationary state of its diffusion (reflected Brownian
/// motion, Harrison 1985, 5.6).
double lost_by_chance(double come_per_us, double served_per_us, double room) {
  if (come_per_us <= 0) return 0;
  const double drift = std::abs(come_per_us - served_per_us);
  const double exponent = 2 * drift * room / come_per_us;
  return exponent < 1e-6 ? come_per_us / (2 * room) : drift / std::expm1(exponent);
}

/// The share of requests that find more than `room` others waiting, in the same diffusion without an upper barrier.
double late_by_chance(double come_per_us, double served_per_us, double room) {
  if (come_per_us <= 0 || come_per_us >= served_per_us) return 0;
  return std::exp(-2 * (served_per_us - come_per_us) * room / come_per_us);
}

bool is_even(const Arrivals& arrivals) {
  const auto* generator = std::get_if<Generator>(&arrivals.source);
  return generator != nullptr && generator->kind == Generator::Kind::kConstant;
}

}  // namespace

RateServing::RateServing(const Scenario& scenario, const ArrivalStreams& streams, std::vector<ServiceMeter>& meters,
                         world::BusyTable& busy, BatchTally& tally)
    : scenario_(scenario),
      streams_(streams),
      meters_(meters),
      busy_(busy),
      tally_(tally),
      services_(scenario.services.size()),
      busy_by_gpu_(scenario.gpu_count(), 0) {}

void RateServing::open_second(std::int64_t second, const std::vector<bool>& is_mine) {
  second_ = second;
  for (std::size_t index = 0; index < services_.size(); ++index) {
    if (!is_mine[index]) continue;
    services_[index].arrivals_in_second = streams_[index].count(second);
    services_[index].arrived_in_second = 0;
    if (services_[index].arrivals_in_second > 0) meters_[index].expect(second, services_[index].arrivals_in_second);
  }
}

void RateServing::advance(std::int64_t until_us) {
  if (until_us <= now_us_) return;
  std::fill(busy_by_gpu_.begin(), busy_by_gpu_.end(), 0.0);
  for (const Service& service : services_) {
    for (const Replica& replica : service.replicas) busy_by_gpu_[replica.gpu.index] += replica.busy_share;
  }
  for (std::size_t index = 0; index < services_.size(); ++index) run_service(index, until_us);
  now_us_ = until_us;
}

void RateServing::run_service(std::size_t index, std::int64_t until_us) {
  Service& service = services_[index];
  if (service.replicas.empty() && service.arrivals_in_second == 0) return;
  const Capacity capacity = capacity_of(index);
  const std::int64_t span_us = until_us - now_us_;
  arrive(index, capacity, until_us);
  const bool drops_early = scenario_.services[index].drop == DropRule::kEarly && !service.replicas.empty();
  if (drops_early && scenario_.services[index].ready.answer) drop_old(index, until_us);
  if (drops_early) drop_by_chance(index, capacity, span_us, until_us);
  serve(index, capacity, span_us, until_us);
  if (drops_early)
    drop(index, std::max<std::int64_t>(0, service.waiting_count - static_cast<std::int64_t>(capacity.answer_room)),
         until_us);
}

void RateServing::drop_by_chance(std::size_t index, const Capacity& capacity, std::int64_t span_us,
                                 std::int64_t at_us) {
  Service& service = services_[index];
  if (capacity.answer_room < 1 || is_even(scenario_.services[index].arrivals)) return;
  const double per_us = static_cast<double>(service.arrivals_in_second) / static_cast<double>(kMicrosPerSecond);
  service.dropped_carry += lost_by_chance(per_us, capacity.per_us, capacity.answer_room) * static_cast<double>(span_us);
  const auto count = std::min(service.waiting_count, static_cast<std::int64_t>(service.dropped_carry));
  service.dropped_carry -= static_cast<double>(count);
  drop(index, count, at_us);
}

RateServing::Capacity RateServing::capacity_of(std::size_t index) const {
  const ServiceSpec& spec = scenario_.services[index];
  Capacity capacity;
  double latency_max_us = 0;
  double latency_mean_us = 0;
  for (const Replica& replica : services_[index].replicas) {
    const LatencyTable& table = *replica.table;
    // Serving by rates reports no single runs: in the table of busy slices only other work (a retraining) counts as
    // running.
    const double others =
        std::max(0.0, busy_by_gpu_[replica.gpu.index] - replica.busy_share) + busy_.others_busy(replica.slice);
    int batch = largest_batch_in_time(table, others, spec.target.count());
    if (batch == 0 && spec.ready.answer) batch = largest_batch_in_time(table, others, spec.ready.answer->count());
    if (batch == 0) {
      if (spec.drop == DropRule::kEarly) continue;  // it takes no requests: every one would be late
      batch = table.point.batch;
    }
    const double latency_us = latency_with(table, others, batch);
    const double per_us = table.point.processes * batch / latency_us;
    const auto worth = static_cast<double>(accuracy_micro(spec, table, services_[index].is_stale));
    capacity.per_us += per_us;
    latency_max_us = std::max(latency_max_us, latency_us);
    latency_mean_us += per_us * latency_us;
    capacity.mean_accuracy += per_us * worth;
  }
  if (capacity.per_us > 0) {
    capacity.mean_accuracy /= capacity.per_us;
    latency_mean_us /= capacity.per_us;
  }
  // The slowest replica drops requests that it could not answer in time; without drops each has its own limit, and the
  // mean is accurate enough.
  const double latency_us = spec.drop == DropRule::kEarly ? latency_max_us : latency_mean_us;
  const auto room_for = [&](Micros time) {
    return capacity.per_us * std::max(0.0, static_cast<double>(time.count()) - latency_us);
  };
  capacity.room = room_for(spec.target);
  capacity.answer_room = room_for(spec.ready.answer.value_or(spec.target));
  return capacity;
}

void RateServing::arrive(std::size_t index, const Capacity& capacity, std::int64_t until_us) {
  Service& service = services_[index];
  const std::int64_t into_second_us = until_us - second_ * kMicrosPerSecond;
  const std::int64_t come = service.arrivals_in_second * into_second_us / kMicrosPerSecond;
  const std::int64_t count = come - service.arrived_in_second;
  if (count == 0) return;
  service.arrived_in_second = come;
  Cohort cohort{.second = second_, .in_time = count, .late = 0, .last_second = second_, .is_rest_late = false};
  const bool may_be_late = scenario_.services[index].drop == DropRule::kNever || scenario_.services[index].ready.answer;
  if (may_be_late && capacity.per_us > 0) {
    // Arrivals meet a backlog that changes linearly from `first` to `last`; those above `limit` will be late.
    const auto first = static_cast<double>(service.waiting_count);
    const double last =
        std::max(0.0, first + static_cast<double>(count) - capacity.per_us * static_cast<double>(until_us - now_us_));
    const double low = std::min(first, last);
    const double high = std::max(first, last);
    const double limit = capacity.room;
    double share = high <= limit ? 0 : low >= limit ? 1 : (high - limit) / (high - low);
    if (share == 0 && !is_even(scenario_.services[index].arrivals)) {
      const double per_us = static_cast<double>(service.arrivals_in_second) / static_cast<double>(kMicrosPerSecond);
      share = late_by_chance(per_us, capacity.per_us, limit - high);
    }
    cohort.late = std::llround(share * static_cast<double>(count));
    cohort.in_time = count - cohort.late;
  }
  service.waiting_count += count;
  join(index, cohort);
}

void RateServing::join(std::size_t index, const Cohort& cohort) {
  std::deque<Cohort>& waiting = services_[index].waiting;
  if (waiting.empty() || waiting.back().second != cohort.second) {
    fold_last(index);
    waiting.push_back(cohort);
    return;
  }
  Cohort& last = waiting.back();
  if (last.late > 0 && cohort.in_time > 0) {
    waiting.push_back(cohort);
    return;
  }
  last.in_time += cohort.in_time;
  last.late += cohort.late;
}

void RateServing::fold_last(std::size_t index) {
  std::deque<Cohort>& waiting = services_[index].waiting;
  if (waiting.size() < 2) return;
  const Cohort& last = waiting.back();
  Cohort& before = waiting[waiting.size() - 2];
  const bool is_late = last.late > 0;
  if (is_late && last.in_time > 0) return;
  if (before.last_second > before.second && before.is_rest_late != is_late) return;
  if (before.last_second == last.second || last.in_time + last.late != streams_[index].count(last.second)) return;
  before.last_second = last.second;
  before.is_rest_late = is_late;
  waiting.pop_back();
}

void RateServing::leave_head(std::size_t index) {
  std::deque<Cohort>& waiting = services_[index].waiting;
  Cohort& head = waiting.front();
  if (head.in_time + head.late > 0) return;
  if (head.second == head.last_second) {
    waiting.pop_front();
    return;
  }
  std::int64_t count = 0;
  while (count == 0) count = streams_[index].count(++head.second);  // the last second has some
  (head.is_rest_late ? head.late : head.in_time) = count;
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
    if (tally_.counts(replica.service)) {
      const PointLatency full(*replica.table);
      tally_.add(replica.service, replica.gpu, share * static_cast<double>(span_us) * full.per_us);
    }
  }
  if (left == 0) return;
  const double mean_rate = static_cast<double>(left) / static_cast<double>(span_us);
  const double wait_us = static_cast<double>(service.waiting_count - left) / capacity.per_us;
  meters_[index].add_latency(std::llround(wait_us + latency_at_load(service, mean_rate)), left);
  const auto worth = static_cast<std::int64_t>(std::llround(capacity.mean_accuracy));
  while (left > 0) {
    Cohort& head = service.waiting.front();
    std::int64_t in_time = std::min(left, head.in_time);
    std::int64_t late = std::min(left - in_time, head.late);
    head.in_time -= in_time;
    head.late -= late;
    if (is_answered_late(index, head.second, at_us)) late += std::exchange(in_time, 0);
    left -= in_time + late;
    service.waiting_count -= in_time + late;
    const std::int64_t second = head.second;
    leave_head(index);
    if (late > 0) meters_[index].settle_late(second, late, Instant(at_us));
    if (in_time > 0) meters_[index].settle_in_time(second, in_time, worth, Instant(at_us));
  }
}

void RateServing::drop(std::size_t index, std::int64_t total, std::int64_t at_us) {
  Service& service = services_[index];
  while (total > 0) {
    Cohort& head = service.waiting.front();
    const std::int64_t count = std::min(total, head.in_time + head.late);
    total -= count;
    const std::int64_t from_in_time = std::min(count, head.in_time);
    head.in_time -= from_in_time;
    head.late -= count - from_in_time;
    service.waiting_count -= count;
    const std::int64_t second = head.second;
    leave_head(index);
    meters_[index].settle_dropped(second, count, Instant(at_us));
  }
}

/// Whether the requests of a second that waited until now, perhaps for a slice, are late for that alone.
bool RateServing::is_answered_late(std::size_t index, std::int64_t second, std::int64_t at_us) const {
  const ServiceSpec& spec = scenario_.services[index];
  return spec.ready.answer && at_us - (second + 1) * kMicrosPerSecond > spec.target.count();
}

void RateServing::drop_old(std::size_t index, std::int64_t at_us) {
  const Service& service = services_[index];
  const std::int64_t answer_us = scenario_.services[index].ready.answer->count();
  while (service.waiting_count > 0) {
    const Cohort& head = service.waiting.front();
    if ((head.second + 1) * kMicrosPerSecond + answer_us >= at_us) return;
    drop(index, head.in_time + head.late, at_us);
  }
}

void RateServing::abandon(ServiceId id, std::int64_t now_us) {
  Service& service = services_[id.index];
  drop(id.index, service.waiting_count, now_us);
  const std::int64_t rest = service.arrivals_in_second - service.arrived_in_second;
  if (rest > 0) meters_[id.index].settle_dropped(second_, rest, Instant(now_us));
  service.arrivals_in_second = service.arrived_in_second = 0;
  service.served_carry = service.dropped_carry = 0;
}

double RateServing::latency_at_load(const Service& service, double per_us) const {
  // The smallest batch at which the replicas keep up; below that, queues grow until batches do.
  const Replica& typical = service.replicas.front();
  const auto replicas = static_cast<double>(service.replicas.size());
  const std::int64_t* latency_us = typical.table->with_others(0).by_table;
  for (int n = 1; n < typical.table->point.batch; ++n) {
    const auto latency = static_cast<double>(latency_us[n - 1]);
    if (replicas * typical.table->point.processes * n / latency >= per_us) return latency;
  }
  return static_cast<double>(latency_us[typical.table->point.batch - 1]);
}

void RateServing::start(world::SliceIndex index, const Slice& slice, ServiceId service,
                        std::shared_ptr<const LatencyTable> table, bool is_shared) {
  services_[service.index].replicas.push_back(
      {.slice = index, .gpu = slice.gpu, .service = service, .table = std::move(table), .is_shared = is_shared});
}

void RateServing::stop(world::SliceIndex index, ServiceId service) {
  std::erase_if(services_[service.index].replicas, [&](const Replica& replica) { return replica.slice == index; });
}

void RateServing::set_table(world::SliceIndex index, ServiceId id, const std::shared_ptr<const LatencyTable>& table) {
  for (Replica& replica : services_[id.index].replicas) {
    if (replica.slice == index) replica.table = table;
  }
}

std::size_t RateServing::entry_count() const {
  std::size_t count = 0;
  for (const Service& service : services_) count += service.waiting.size();
  return count;
}

}  // namespace berth::sim
