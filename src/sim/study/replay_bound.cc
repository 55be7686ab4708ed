#include "sim/study/replay_bound.h"

#include <algorithm>
#include <vector>

#include "domain/trace/run_arrivals.h"
#include "sim/world/latency_table.h"

namespace berth::study {
namespace {

/// For each number of services that share a slice, the smaller factor of the two forms of sharing.
std::vector<double> sharing_factors(std::size_t service_count) {
  std::vector<double> factors;
  factors.reserve(service_count);
  for (int busy = 1; busy <= static_cast<int>(service_count); ++busy) {
    factors.push_back(
        std::min(sim::sharing_factor(Sharing::kTimeSlices, busy), sim::sharing_factor(Sharing::kMps, busy))
            .to_double());
  }
  return factors;
}

}  // namespace

Result<bound::Bound> replay_bound(const Scenario& scenario, std::uint64_t seed,
                                  const std::function<bool(double done)>& progress) {
  const RunArrivals run(scenario, seed);
  const bound::KnownArrivals known{
      .count = [&](ServiceId service, std::int64_t second) { return run.count(service, second); },
      .offsets = [&](ServiceId service, std::int64_t second,
                     std::vector<std::uint32_t>& offsets) { run.offsets(service, second, offsets); }};
  const auto bound = bound::goodput_bound(scenario, known, sharing_factors(scenario.services.size()), progress);
  if (!bound) return fail(ErrorCode::kInterrupted, "interrupted");
  return *bound;
}

}  // namespace berth::study
