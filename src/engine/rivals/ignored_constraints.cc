#include "engine/rivals/ignored_constraints.h"

#include <algorithm>
#include <map>
#include <set>

namespace berth::partition {
namespace {

/// Which services share slices and GPUs in one layout.
struct Neighbours {
  std::vector<std::set<ServiceId>> on_gpu;    ///< [service] -> the others on its GPUs
  std::vector<std::set<ServiceId>> in_slice;  ///< [service] -> the others in its slices
};

void add_others(std::vector<std::set<ServiceId>>& others, const std::set<ServiceId>& together) {
  for (const ServiceId service : together) {
    others[service.index].insert(together.begin(), together.end());
    others[service.index].erase(service);
  }
}

Neighbours neighbours_in(const Scenario& scenario, const Layout& layout) {
  Neighbours neighbours{std::vector<std::set<ServiceId>>(scenario.services.size()),
                        std::vector<std::set<ServiceId>>(scenario.services.size())};
  std::map<GpuId, std::set<ServiceId>> on_gpu;
  for (const Holding& holding : layout) {
    add_others(neighbours.in_slice, {holding.services.begin(), holding.services.end()});
    on_gpu[holding.slice.gpu].insert(holding.services.begin(), holding.services.end());
  }
  for (const auto& [gpu, services] : on_gpu) add_others(neighbours.on_gpu, services);
  return neighbours;
}

bool keeps_pins(const ServiceSpec& spec, const Layout& layout, ServiceId service) {
  return std::ranges::all_of(spec.pins, [&](const Pin& pin) {
    return std::ranges::any_of(layout, [&](const Holding& holding) {
      return holding.slice == pin.slice && holding.services == std::vector{service};
    });
  });
}

/// A rival does not choose models for `auto`.
bool keeps_tier(const Scenario& scenario, const Layout& layout, ServiceId service) {
  const TierRule& rule = scenario.services[service.index].tier;
  return !rule.is_auto && std::ranges::all_of(layout, [&](const Holding& holding) {
    const bool is_its = std::ranges::find(holding.services, service) != holding.services.end();
    return !is_its || rule.allows(scenario.model_of(holding.slice.gpu).name);
  });
}

bool keeps_replicas(const ServiceSpec& spec, const Layout& layout, ServiceId service) {
  if (!spec.running.replicas) return true;
  const ReplicaLimits& limits = *spec.running.replicas;
  const auto count = std::ranges::count_if(layout, [&](const Holding& holding) {
    return holding.role == Role::kInference && std::ranges::find(holding.services, service) != holding.services.end();
  });
  return count >= limits.slices_min && count <= limits.slices_max.value_or(count);
}

bool keeps_isolation(const ServiceSpec& spec, const Neighbours& neighbours, ServiceId service) {
  switch (spec.isolation) {
    case Isolation::kGpu:
      return neighbours.on_gpu[service.index].empty();
    case Isolation::kMig:
      return neighbours.in_slice[service.index].empty();
    case Isolation::kMps:
    case Isolation::kTimeslice:
      return true;
  }
  return true;
}

bool keeps_trust_domain(const Scenario& scenario, const Neighbours& neighbours, ServiceId service) {
  const ServiceSpec& spec = scenario.services[service.index];
  if (!spec.trust_domain) return true;
  return std::ranges::all_of(neighbours.on_gpu[service.index], [&](ServiceId other) {
    return scenario.services[other.index].trust_domain == spec.trust_domain;
  });
}

}  // namespace

std::vector<ConstraintId> ignored_constraints(const Scenario& scenario, const Layout& layout) {
  const Neighbours neighbours = neighbours_in(scenario, layout);
  std::vector<ConstraintId> ignored;
  for (std::uint32_t i = 0; i < scenario.services.size(); ++i) {
    const ServiceSpec& spec = scenario.services[i];
    const ServiceId service{i};
    const auto add = [&](ConstraintKind kind) { ignored.push_back(constraint_of(service, kind)); };
    if (spec.floor_attainment) add(ConstraintKind::kFloor);
    if (!keeps_pins(spec, layout, service)) add(ConstraintKind::kPins);
    if (!keeps_isolation(spec, neighbours, service)) add(ConstraintKind::kIsolation);
    if (!keeps_trust_domain(scenario, neighbours, service)) add(ConstraintKind::kTrustDomain);
    if (!keeps_tier(scenario, layout, service)) add(ConstraintKind::kTier);
    if (!keeps_replicas(spec, layout, service)) add(ConstraintKind::kReplicas);
    if (spec.ready.warm_pool) add(ConstraintKind::kWarmPool);
  }
  return ignored;
}

std::vector<ConstraintId> constraints_ignored_while_moving(const Scenario& scenario) {
  std::vector<ConstraintId> ignored;
  for (std::uint32_t i = 0; i < scenario.services.size(); ++i) {
    const ServiceSpec& spec = scenario.services[i];
    const auto add = [&](ConstraintKind kind) { ignored.push_back(constraint_of(ServiceId{i}, kind)); };
    if (spec.floor_attainment) add(ConstraintKind::kFloor);
    if (!spec.pins.empty()) add(ConstraintKind::kPins);
    if (spec.changes_per_hour) add(ConstraintKind::kChangesPerHour);
    if (spec.isolation == Isolation::kGpu) add(ConstraintKind::kIsolation);
    if (spec.trust_domain) add(ConstraintKind::kTrustDomain);
    if (spec.tier.is_auto || !spec.tier.gpu.empty()) add(ConstraintKind::kTier);
    if (spec.running.replicas) add(ConstraintKind::kReplicas);
    if (spec.ready.warm_pool) add(ConstraintKind::kWarmPool);
  }
  return ignored;
}

std::vector<ConstraintId> warm_pools_ignored(const Scenario& scenario) {
  std::vector<ConstraintId> ignored;
  for (std::uint32_t i = 0; i < scenario.services.size(); ++i) {
    if (scenario.services[i].ready.warm_pool) ignored.push_back(constraint_of(ServiceId{i}, ConstraintKind::kWarmPool));
  }
  return ignored;
}

}  // namespace berth::partition
