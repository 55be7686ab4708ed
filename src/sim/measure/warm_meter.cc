#include "sim/measure/warm_meter.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "domain/profile/slice_price.h"

namespace berth::measure {
namespace {

bool has_prices(const Scenario& scenario) {
  return std::ranges::all_of(scenario.fleet,
                             [](const FleetEntry& entry) { return entry.usd_per_gpu_hour.has_value(); });
}

std::int64_t micro_usd(const Decimal& usd_hours_us) { return (usd_hours_us / Decimal(3600)).round_half_even(); }

}  // namespace

WarmMeter::WarmMeter(const Scenario& scenario) : scenario_(scenario), pools_(scenario.services.size()) {
  for (std::size_t index = 0; index < pools_.size(); ++index) {
    pools_[index].has_pool = scenario.services[index].ready.warm_pool.has_value();
    is_used_ = is_used_ || pools_[index].has_pool;
  }
}

void WarmMeter::add(const sim::JournalRecord& record) {
  if (!is_used_) return;
  if (const auto* slice = std::get_if<world::SliceRecord>(&record)) add_slice(*slice);
  if (const auto* second = std::get_if<sim::SecondRecord>(&record)) add_second(*second);
}

void WarmMeter::add_slice(const world::SliceRecord& record) {
  Owner& owner = owners_[record.slice];
  Owner next = owner;
  switch (record.event) {
    case world::SliceEvent::kCreated:
    case world::SliceEvent::kServing:
      next.services = record.role == Role::kInference ? record.services : std::vector<ServiceId>();
      next.is_serving = record.event == world::SliceEvent::kServing;
      break;
    case world::SliceEvent::kDraining:
    case world::SliceEvent::kDestroyed:
    case world::SliceEvent::kLost:
    case world::SliceEvent::kRetrainingStarted:
      next = Owner();
      break;
    case world::SliceEvent::kRetrainingDone:
      return;
  }
  change(record, owner, -1);
  change(record, next, 1);
  owner = std::move(next);
}

void WarmMeter::change(const world::SliceRecord& record, const Owner& owner, int sign) {
  for (const ServiceId service : owner.services) {
    Pool& pool = pools_[service.index];
    if (!pool.has_pool) continue;
    Held held = pool.held.back();
    held.from = record.at;
    held.serving += owner.is_serving ? sign : 0;
    const auto price = profile::slice_usd_per_hour(scenario_.entry_of(record.slice.gpu), record.slice.profile);
    held.usd_per_hour += price.value_or(Decimal()) * Decimal(sign);
    if (pool.held.back().from == record.at) pool.held.pop_back();
    pool.held.push_back(std::move(held));
  }
}

/// What stands from `counted_until` to `until` is idle.
void WarmMeter::count_idle(Pool& pool, Instant until) {
  for (std::size_t i = 0; i < pool.held.size(); ++i) {
    const Instant from = std::max(pool.held[i].from, pool.counted_until);
    const Instant to = i + 1 < pool.held.size() ? std::min(pool.held[i + 1].from, until) : until;
    if (to > from) pool.usd_hours_us += pool.held[i].usd_per_hour * Decimal((to - from).count());
  }
}

void WarmMeter::forget_before(Pool& pool, Instant at) {
  while (pool.held.size() > 1 && pool.held[1].from <= at) pool.held.pop_front();
}

void WarmMeter::add_second(const sim::SecondRecord& record) {
  Pool& pool = pools_[record.service.index];
  if (!pool.has_pool || record.requests == 0) return;
  const Instant begin = Instant::at_second(record.second);
  const auto after = std::ranges::upper_bound(pool.held, begin, {}, &Held::from);
  const std::int64_t serving = after == pool.held.begin() ? 0 : std::prev(after)->serving;
  if (serving == 0) pool.cold_requests += record.requests;
  if (begin > pool.counted_until) count_idle(pool, begin);
  pool.counted_until = std::max({pool.counted_until, record.at, Instant::at_second(record.second + 1)});
  forget_before(pool, begin);
}

void WarmMeter::finish_into(PolicyResult& result) {
  if (!is_used_) return;
  const bool is_priced = has_prices(scenario_);
  Decimal sum;
  std::int64_t cold = 0;
  const Instant end = Instant::at_second(scenario_.simulated_seconds());
  for (std::size_t index = 0; index < pools_.size(); ++index) {
    Pool& pool = pools_[index];
    if (!pool.has_pool) continue;
    if (end > pool.counted_until) count_idle(pool, end);
    pool.counted_until = std::max(pool.counted_until, end);
    cold += pool.cold_requests;
    sum += pool.usd_hours_us;
    if (index >= result.services.size()) continue;
    Figures& figures = result.services[index].figures;
    figures.cold_requests = pool.cold_requests;
    if (is_priced) figures.idle_micro_usd = micro_usd(pool.usd_hours_us);
  }
  result.figures.cold_requests = cold;
  if (is_priced) result.figures.idle_micro_usd = micro_usd(sum);
}

}  // namespace berth::measure
