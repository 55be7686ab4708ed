#include "engine/loop/slice_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "domain/profile/slice_price.h"
#include "domain/values/frozen.h"

namespace berth {
namespace {

/// The inference slices that a service holds alone, those that are to stay first. Without those on draining GPUs, which
/// go by themselves once others serve.
std::vector<const StandingSlice*> slices_by_rank(const Scenario& scenario, const Snapshot& snapshot,
                                                 ServiceId service) {
  std::vector<const StandingSlice*> slices;
  for (const StandingSlice& standing : snapshot.staying()) {
    if (snapshot.is_draining(standing.holding.slice.gpu)) continue;
    const bool is_its = standing.holding.services == std::vector{service};
    if (is_its && !standing.is_foreign && standing.holding.role == Role::kInference) slices.push_back(&standing);
  }
  const auto is_pinned = [&](const Slice& slice) {
    return std::ranges::find(scenario.services[service.index].pins, slice, &Pin::slice) !=
           scenario.services[service.index].pins.end();
  };
  const auto rank = [&](const StandingSlice* standing) {
    const Slice& slice = standing->holding.slice;
    const FleetEntry& entry = scenario.entry_of(slice.gpu);
    const Decimal size = profile::unit_share(entry.model, slice.profile) * entry.usd_per_gpu_hour.value_or(Decimal(1));
    return std::tuple(!is_pinned(slice), !standing->is_ready, size, slice);
  };
  std::ranges::sort(slices, [&](const StandingSlice* a, const StandingSlice* b) { return rank(a) < rank(b); });
  return slices;
}

/// Numbers of inference slices, by service.
struct Held {
  std::vector<std::int64_t> all;
  std::vector<std::int64_t> kept;  ///< without those on draining GPUs

  explicit Held(const Scenario& scenario) : all(scenario.services.size()), kept(scenario.services.size()) {}
  void add(const Snapshot& snapshot, const Holding& holding) {
    if (holding.role != Role::kInference) return;
    for (const ServiceId service : holding.services) {
      ++all[service.index];
      if (!snapshot.is_draining(holding.slice.gpu)) ++kept[service.index];
    }
  }
};

Held slices_held(const Scenario& scenario, const Snapshot& snapshot) {
  Held held(scenario);
  for (const StandingSlice& standing : snapshot.staying()) held.add(snapshot, standing.holding);
  return held;
}

Held slices_held(const Scenario& scenario, const Snapshot& snapshot, const FleetAfter& after) {
  Held held(scenario);
  for (const auto& [slice, allocation] : after.slices()) held.add(snapshot, allocation.holding);
  return held;
}

}  // namespace

void destroy_excess(const Scenario& scenario, const Snapshot& snapshot, const std::set<ServiceId>& services,
                    const std::function<std::string(ServiceId)>& reason, Plan& plan) {
  if (snapshot.is_before_first_layout() || is_frozen(scenario, snapshot.takes_effect_at(scenario.planning))) return;
  for (const ServiceId service : services) {
    const ServiceSpec& spec = scenario.services[service.index];
    const auto kept =
        static_cast<std::size_t>(std::max<std::int64_t>(*spec.running.replicas->slices_max, std::ssize(spec.pins)));
    const std::vector<const StandingSlice*> slices = slices_by_rank(scenario, snapshot, service);
    for (std::size_t i = kept; i < slices.size(); ++i) {
      const Slice& slice = slices[i]->holding.slice;
      if (!snapshot.is_open(slice.gpu)) continue;
      plan.is_ordered = true;
      plan.actions.push_back({.what = DestroySlice{slice}, .reason = {.text = reason(service), .numbers = {}}});
    }
  }
}

std::optional<std::string> find_limit_breach(const Scenario& scenario, const Snapshot& snapshot,
                                             const FleetAfter& after) {
  const Held now = slices_held(scenario, snapshot);
  const Held then = slices_held(scenario, snapshot, after);
  for (std::size_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceSpec& spec = scenario.services[index];
    if (!spec.running.replicas || spec.is_absent) continue;
    const ReplicaLimits& limits = *spec.running.replicas;
    const std::string name = service_label(scenario, {static_cast<std::uint32_t>(index)});
    const char* key = spec.ready.warm_pool ? "warm_pool" : "replicas";
    if (then.all[index] < limits.slices_min && then.all[index] < now.all[index]) {
      return fmt::format("{}: wanted at least {} slices ({}.{}), found that the plan leaves {} of {}", name,
                         limits.slices_min, name, key, then.all[index], now.all[index]);
    }
    if (limits.slices_max && then.kept[index] > *limits.slices_max && then.kept[index] > now.kept[index]) {
      return fmt::format("{}: wanted at most {} slices ({}.{}), found that the plan makes {} of {}", name,
                         *limits.slices_max, name, key, then.kept[index], now.kept[index]);
    }
  }
  return std::nullopt;
}

}  // namespace berth
