#include "planner/packing/detail/bulk.h"

#include "base/core/sort_stably.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace berth::packing::detail {
namespace {

/// Slices of each kind that stay open for the search.
constexpr std::int32_t kOpenSlices = 6;

}  // namespace

Int128 carried(const InstanceDemand& demand, const Counts& counts) {
  Int128 sum = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) sum += demand.throughput[k] * counts[k];
  return sum;
}

void drop_surplus(const InstanceDemand& demand, Counts& counts) {
  std::vector<std::size_t> kinds;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) kinds.push_back(k);
  }
  sort_stably(kinds, [&](std::size_t k) { return demand.throughput[k]; }, std::greater<>());
  Int128 surplus = carried(demand, counts) - demand.rate;
  for (const std::size_t k : kinds) {
    const auto needless = static_cast<std::int32_t>(std::min<Int128>(counts[k], surplus / demand.throughput[k]));
    counts[k] -= needless;
    surplus -= demand.throughput[k] * needless;
  }
}

std::optional<Bulk> take_bulk(const Instance& instance, const Relaxation& relaxation) {
  if (relaxation.mean_covers.size() != instance.demands.size()) return std::nullopt;
  Bulk bulk{.by_demand = {}, .counts = Counts(instance.kinds.size(), 0), .rest = instance};
  bool is_some_settled = false;
  for (std::size_t d = 0; d < instance.demands.size(); ++d) {
    Counts settled(instance.kinds.size(), 0);
    for (std::size_t k = 0; k < settled.size(); ++k) {
      settled[k] = std::max(0, static_cast<std::int32_t>(std::floor(relaxation.mean_covers[d][k])) - kOpenSlices);
    }
    const Int128 rate_left = instance.demands[d].rate - carried(instance.demands[d], settled);
    if (rate_left <= 0) settled.assign(settled.size(), 0);
    if (rate_left > 0) bulk.rest.demands[d].rate = rate_left;
    for (std::size_t k = 0; k < settled.size(); ++k) {
      bulk.counts[k] += settled[k];
      if (settled[k] > 0) is_some_settled = true;
    }
    bulk.by_demand.push_back(std::move(settled));
  }
  if (!is_some_settled) return std::nullopt;
  return bulk;
}

CoverChoice with_bulk(const Instance& instance, const Bulk& bulk, const CoverChoice& rest) {
  CoverChoice whole = bulk.by_demand;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    for (std::size_t k = 0; k < whole[d].size(); ++k) whole[d][k] += rest[d][k];
    drop_surplus(instance.demands[d], whole[d]);
  }
  return whole;
}

}  // namespace berth::packing::detail
