#include "partition/ignored_fields.h"

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

std::vector<std::string> ignored_fields(const Scenario& scenario, const Layout& layout) {
  const Neighbours neighbours = neighbours_in(scenario, layout);
  std::vector<std::string> ignored;
  for (std::uint32_t i = 0; i < scenario.services.size(); ++i) {
    const ServiceSpec& spec = scenario.services[i];
    const ServiceId service{i};
    if (spec.floor_attainment) ignored.push_back(spec.name + ".floor");
    if (!keeps_pins(spec, layout, service)) ignored.push_back(spec.name + ".pins");
    if (!keeps_isolation(spec, neighbours, service)) ignored.push_back(spec.name + ".isolation");
    if (!keeps_trust_domain(scenario, neighbours, service)) ignored.push_back(spec.name + ".trust_domain");
  }
  return ignored;
}

std::vector<std::string> fields_ignored_while_moving(const Scenario& scenario) {
  std::vector<std::string> ignored;
  for (const ServiceSpec& spec : scenario.services) {
    if (spec.floor_attainment) ignored.push_back(spec.name + ".floor");
    if (!spec.pins.empty()) ignored.push_back(spec.name + ".pins");
    if (spec.changes_per_hour) ignored.push_back(spec.name + ".changes_per_hour");
    if (spec.isolation == Isolation::kGpu) ignored.push_back(spec.name + ".isolation");
    if (spec.trust_domain) ignored.push_back(spec.name + ".trust_domain");
  }
  return ignored;
}

}  // namespace berth::partition
