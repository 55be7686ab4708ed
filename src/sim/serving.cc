#include "sim/serving.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace berth::sim {

Serving::Serving(const Scenario& scenario, const ArrivalStreams& streams, std::vector<ServiceMeter>& meters,
                 BusyTable& busy, Dispatch dispatch)
    : scenario_(scenario),
      is_by_rates_(scenario.services.size(), false),
      requests_(scenario, streams, meters, busy, dispatch),
      rates_(scenario, streams, meters, busy) {}

void Serving::choose_ways(const std::vector<double>& per_second, bool has_shared_slices, bool is_rough) {
  if (scenario_.fidelity == Fidelity::kRequests) return;
  if (is_rough) {
    is_by_rates_.assign(per_second.size(), true);
    return;
  }
  const bool has_interference = std::any_of(scenario_.interference.begin(), scenario_.interference.end(),
                                            [](const Decimal& factor) { return factor != Decimal(1); });
  const auto limit_of = [](const ServiceSpec& service) {
    return service.drop == DropRule::kEarly ? kExactPerSecondEarly : kExactPerSecondNever;
  };
  if (!has_interference && !has_shared_slices) {
    for (std::size_t index = 0; index < per_second.size(); ++index) {
      is_by_rates_[index] = per_second[index] > limit_of(scenario_.services[index]);
    }
    return;
  }
  const double possible = std::accumulate(per_second.begin(), per_second.end(), 0.0);
  double limit = 0;
  for (const ServiceSpec& service : scenario_.services) limit += limit_of(service);
  is_by_rates_.assign(per_second.size(), possible > limit);
}

void Serving::open_second(std::int64_t second) {
  requests_.open_second(second, is_by_rates_);
  rates_.open_second(second, is_by_rates_);
}

std::int64_t Serving::advance(std::int64_t until_us) {
  // Serving request by request may stop early, where a slice becomes idle.
  return rates_.advance(requests_.advance(until_us));
}

void Serving::start(SliceIndex index, const Slice& slice, ServiceId service, std::shared_ptr<const LatencyTable> table,
                    bool is_shared) {
  if (is_by_rates_[service.index]) {
    rates_.start(index, slice, service, std::move(table), is_shared);
  } else {
    requests_.start(index, slice, service, std::move(table), is_shared);
  }
}

bool Serving::stop(SliceIndex index, const std::vector<ServiceId>& services) {
  for (const ServiceId service : services) {
    if (is_by_rates_[service.index]) rates_.stop(index, service);
  }
  return requests_.stop(index);
}

void Serving::lose(SliceIndex index, const std::vector<ServiceId>& services, std::int64_t now_us) {
  for (const ServiceId service : services) {
    if (is_by_rates_[service.index]) rates_.stop(index, service);
  }
  requests_.lose(index, now_us);
}

void Serving::set_table(SliceIndex index, ServiceId service, const std::shared_ptr<const LatencyTable>& table) {
  if (is_by_rates_[service.index]) {
    rates_.set_table(index, service, table);
  } else {
    requests_.set_table(index, service, table);
  }
}

/// What the service will be able to serve is not known: at `fidelity: rates` it is served by rates.
void Serving::add_place(const ArrivalStream& stream) {
  is_by_rates_.push_back(scenario_.fidelity == Fidelity::kRates);
  requests_.add_place(stream);
  rates_.add_place();
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
