#include "engine/rivals/retraining_rule.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "domain/profile/operating_point.h"

namespace berth::partition {
namespace {

/// A slice that the service holds alone for inference.
struct LendableSlice {
  Slice slice;
  std::optional<Decimal> throughput;  ///< absent: it cannot serve
  std::optional<Micros> time;         ///< nothing: the retraining cannot run on it
};

std::vector<LendableSlice> slices_held_alone(const Scenario& scenario, const Layout& standing, ServiceId service) {
  const ServiceSpec& spec = scenario.services[service.index];
  std::map<std::pair<std::string, ProfileId>, std::optional<Decimal>> known;
  std::vector<LendableSlice> slices;
  for (const Holding& holding : standing) {
    if (holding.role != Role::kInference || holding.services != std::vector{service}) continue;
    const GpuModel& model = scenario.model_of(holding.slice.gpu);
    const auto [entry, is_new] = known.try_emplace({model.name, holding.slice.profile});
    if (is_new) {
      const auto point = profile::choose_point(spec, model, holding.slice.profile);
      if (point) entry->second = point->requests_per_second;
    }
    slices.push_back(
        {holding.slice, entry->second, retraining_time_on(*spec.retraining, model, holding.slice.profile)});
  }
  return slices;
}

}  // namespace

std::optional<Slice> slice_to_lend(const Scenario& scenario, const Layout& standing, ServiceId service) {
  ENSURE(service.index < scenario.services.size());
  const std::optional<Retraining>& retraining = scenario.services[service.index].retraining;
  if (!retraining) return std::nullopt;

  const std::vector<LendableSlice> slices = slices_held_alone(scenario, standing, service);
  const auto serving_count =
      std::ranges::count_if(slices, [](const auto& slice) { return slice.throughput.has_value(); });
  const LendableSlice* best = nullptr;
  const auto is_quick = [&](const LendableSlice& slice) { return *slice.time < retraining->every; };
  const auto is_preferred = [&](const LendableSlice& a, const LendableSlice& b) {
    if (is_quick(a) != is_quick(b)) return is_quick(a);
    const Decimal throughput_a = a.throughput.value_or(Decimal(0));
    const Decimal throughput_b = b.throughput.value_or(Decimal(0));
    if (!(throughput_a == throughput_b)) return throughput_a < throughput_b;
    return a.slice < b.slice;
  };
  for (const LendableSlice& slice : slices) {
    if (!slice.time || (!is_quick(slice) && !retraining->keeps_unfinished)) continue;
    if (serving_count - (slice.throughput ? 1 : 0) < 1) continue;
    if (best == nullptr || is_preferred(slice, *best)) best = &slice;
  }
  return best == nullptr ? std::nullopt : std::optional(best->slice);
}

}  // namespace berth::partition
