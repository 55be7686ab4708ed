#include "trace/run_arrivals.h"

#include <algorithm>

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
    : scenario_(scenario), silence_(silence_of(std::max<std::int64_t>(1, scenario.simulated_seconds()))) {
  const Rng rng(seed);
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const Arrivals& arrivals = scenario.services[index].arrivals;
    const bool is_silent = (only && only->index != index) || !arrivals.is_given();
    streams_.emplace_back(is_silent ? silence_ : arrivals, rng.split("arrivals", index), laps);
  }
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
