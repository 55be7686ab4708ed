#include "domain/trace/run_arrivals.h"

#include <algorithm>
#include <utility>

namespace berth {
namespace {

Arrivals silence_of(std::int64_t seconds) {
  Arrivals arrivals;
  arrivals.source = Generator{.kind = Generator::Kind::kConstant, .requests_per_second = Decimal(0)};
  arrivals.seconds = seconds;
  return arrivals;
}

}  // namespace

RunArrivals::RunArrivals(const Scenario& scenario, std::uint64_t seed, std::optional<ServiceId> only, Laps laps)
    : scenario_(scenario),
      silence_(silence_of(std::max<std::int64_t>(1, scenario.simulated_seconds()))),
      rng_(seed),
      laps_(laps) {
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const std::shared_ptr<const ServiceSpec> spec = scenario.services.share(index);
    const Rng rng = rng_.split("arrivals", index);
    if ((only && only->index != index) || !spec->arrivals.is_given()) {
      streams_.emplace_back(silence_, rng, laps);
    } else {
      streams_.emplace_back(std::shared_ptr<const Arrivals>(spec, &spec->arrivals), rng, laps);
    }
  }
}

void RunArrivals::add_place() { streams_.emplace_back(silence_, rng_, laps_); }

void RunArrivals::begin(ServiceId service, std::shared_ptr<const Arrivals> arrivals, std::uint64_t number,
                        std::int64_t second) {
  if (is_silent_ || !arrivals->is_given()) return silence(service);
  streams_[service.index] = ArrivalStream(std::move(arrivals), rng_.split("set arrivals", number), laps_, second);
}

void RunArrivals::silence(ServiceId service) { streams_[service.index] = ArrivalStream(silence_, rng_, laps_); }

void RunArrivals::silence_all() {
  is_silent_ = true;
  for (std::uint32_t index = 0; index < streams_.size(); ++index) silence({index});
}

std::optional<std::int64_t> RunArrivals::history(ServiceId service, std::int64_t second) const {
  const ArrivalStream& stream = streams_[service.index];
  if (!stream.has_history(second)) return std::nullopt;
  return stream.count(second);
}

std::vector<std::int64_t> RunArrivals::totals() const {
  std::vector<std::int64_t> totals;
  totals.reserve(streams_.size());
  for (std::size_t index = 0; index < streams_.size(); ++index) {
    std::int64_t total = 0;
    for (std::int64_t second = 0; second < scenario_.services[index].arrivals.seconds; ++second) {
      total += streams_[index].count(second);
    }
    totals.push_back(total);
  }
  return totals;
}

}  // namespace berth
