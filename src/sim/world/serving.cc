#include "sim/world/serving.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <variant>

#include "base/core/overloaded.h"

namespace berth::sim {
namespace {

/// Up to this many requests per second it is served request by request.
double exact_limit(const ServiceSpec& service) {
  return service.drop == DropRule::kEarly ? kExactPerSecondEarly : kExactPerSecondNever;
}

/// Whether slices of one GPU slow each other down.
bool has_interference(const Scenario& scenario) {
  return std::ranges::any_of(scenario.interference, [](const Decimal& factor) { return factor != Decimal(1); });
}

/// Of the window where the trace has counts by second, else of the whole trace. O(its length).
double mean_per_second(const Arrivals& arrivals) {
  constexpr double kSecondsPerMinute = 60;
  const auto mean = [](std::span<const std::uint32_t> counts) {
    const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
    return counts.empty() ? 0 : sum / static_cast<double>(counts.size());
  };
  const auto windowed = [&](const std::vector<std::uint32_t>& counts) {
    const auto from = std::min(static_cast<std::size_t>(arrivals.from_second), counts.size());
    const auto length = std::min(static_cast<std::size_t>(arrivals.seconds), counts.size() - from);
    return std::span(counts).subspan(from, length);
  };
  const double unscaled =
      std::visit(Overloaded{[&](const CountTrace& trace) { return mean(windowed(trace.counts)); },
                            [&](const MinuteTrace& trace) { return mean(trace.counts) / kSecondsPerMinute; },
                            [](const TimedTrace& trace) {
                              const auto count = static_cast<double>(trace.requests.size());
                              return trace.seconds == 0 ? 0 : count / static_cast<double>(trace.seconds);
                            },
                            [](const Generator& generator) { return generator.requests_per_second.to_double(); }},
                 arrivals.source);
  return unscaled * arrivals.scale.to_double();
}

}  // namespace

Serving::Serving(const Scenario& scenario, const ArrivalStreams& streams, std::vector<ServiceMeter>& meters,
                 world::BusyTable& busy, Dispatch dispatch)
    : scenario_(scenario),
      is_by_rates_(scenario.services.size(), false),
      tally_(scenario),
      requests_(scenario, streams, meters, busy, tally_, dispatch),
      rates_(scenario, streams, meters, busy, tally_) {
  // Until a first layout decides; a world that begins empty has none.
  if (has_interference(scenario)) common_way_ = scenario.fidelity == Fidelity::kRates;
}

void Serving::choose_ways(const std::vector<double>& per_second, bool has_shared_slices, bool is_rough) {
  if (scenario_.fidelity == Fidelity::kRequests) return;
  if (is_rough) {
    common_way_ = true;
    is_by_rates_.assign(per_second.size(), true);
    return;
  }
  if (!has_interference(scenario_) && !has_shared_slices) {
    for (std::size_t index = 0; index < per_second.size(); ++index) {
      is_by_rates_[index] = per_second[index] > exact_limit(scenario_.services[index]);
    }
    return;
  }
  const double possible = std::accumulate(per_second.begin(), per_second.end(), 0.0);
  double limit = 0;
  for (const ServiceSpec& service : scenario_.services) limit += exact_limit(service);
  common_way_ = possible > limit;
  is_by_rates_.assign(per_second.size(), *common_way_);
}

bool Serving::wants_other_way(ServiceId service) const {
  if (scenario_.fidelity == Fidelity::kRequests) return false;
  const ServiceSpec& spec = scenario_.services[service.index];
  return is_by_rates_[service.index] != common_way_.value_or(mean_per_second(spec.arrivals) > exact_limit(spec));
}

void Serving::open_second(std::int64_t second) {
  requests_.open_second(second, is_by_rates_);
  rates_.open_second(second, is_by_rates_);
}

std::int64_t Serving::advance(std::int64_t until_us) { return requests_.advance(until_us); }

void Serving::catch_up(std::int64_t now_us) { rates_.advance(now_us); }

void Serving::start(world::SliceIndex index, const Slice& slice, ServiceId service,
                    std::shared_ptr<const LatencyTable> table, bool is_shared) {
  if (is_by_rates_[service.index]) {
    rates_.start(index, slice, service, std::move(table), is_shared);
  } else {
    requests_.start(index, slice, service, std::move(table), is_shared);
  }
}

bool Serving::stop(world::SliceIndex index, const std::vector<ServiceId>& services) {
  for (const ServiceId service : services) {
    if (is_by_rates_[service.index]) rates_.stop(index, service);
  }
  return requests_.stop(index);
}

void Serving::lose(world::SliceIndex index, const std::vector<ServiceId>& services, std::int64_t now_us) {
  for (const ServiceId service : services) {
    if (is_by_rates_[service.index]) rates_.stop(index, service);
  }
  requests_.lose(index, now_us);
}

void Serving::set_table(world::SliceIndex index, ServiceId service, const std::shared_ptr<const LatencyTable>& table) {
  if (is_by_rates_[service.index]) {
    rates_.set_table(index, service, table);
  } else {
    requests_.set_table(index, service, table);
  }
}

void Serving::add_place(const ArrivalStream& stream) {
  is_by_rates_.push_back(false);
  requests_.add_place(stream);
  rates_.add_place();
  tally_.read_spec({static_cast<std::uint32_t>(is_by_rates_.size() - 1)});
}

void Serving::abandon(ServiceId service, std::int64_t now_us) {
  if (is_by_rates_[service.index]) {
    rates_.abandon(service, now_us);
  } else {
    requests_.abandon(service, now_us);
  }
}

void Serving::set_stale(ServiceId service, bool is_stale) {
  requests_.set_stale(service, is_stale);
  rates_.set_stale(service, is_stale);
}

std::int64_t Serving::queued(ServiceId service, std::int64_t now_us) {
  return is_by_rates_[service.index] ? rates_.queued(service) : requests_.queued(service, now_us);
}

}  // namespace berth::sim
