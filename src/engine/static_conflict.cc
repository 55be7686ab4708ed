#include "engine/static_conflict.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "profile/operating_point.h"

namespace berth {
namespace {

bool is_named(std::span<const std::string> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool has_usable_point(const PerformanceTable& table, const ServiceSpec& service, const GpuModel& model,
                      ProfileId profile) {
  return std::ranges::any_of(profile::points_on(table, model, profile), [&](const PerformancePoint& point) {
    return point.processes <= service.batching.processes_max && point.latency_ms <= service.target_ms;
  });
}

bool is_of_use(const ServiceSpec& service, const GpuModel& model, ProfileId profile) {
  if (service.retraining && retraining_time_on(*service.retraining, model, profile)) return true;
  if (has_usable_point(service.table, service, model, profile)) return true;
  return std::ranges::any_of(service.variants, [&](const Variant& variant) {
    return has_usable_point(variant.table, service, model, profile);
  });
}

std::string pin_shown(const Scenario& scenario, const Pin& pin) {
  return fmt::format("{}@{}", profile_name(scenario.model_of(pin.slice.gpu), pin.slice.profile), pin.slice.start);
}

/// A fleet may have fewer GPUs than the file says: `berth size` tries counts.
std::optional<Conflict> pin_without_gpu(const Scenario& scenario) {
  const std::uint32_t gpus = scenario.gpu_count();
  for (const ServiceSpec& service : scenario.services) {
    for (const Pin& pin : service.pins) {
      if (pin.slice.gpu.index < gpus) continue;
      return Conflict{
          .names = {service.name + ".pins"},
          .why = fmt::format("GPU {}: wanted a GPU with a slice for {} alone ({}.pins), found a fleet of {}",
                             pin.slice.gpu.index, service.name, service.name, gpus)};
    }
  }
  return std::nullopt;
}

std::optional<Conflict> useless_pin(const Scenario& scenario) {
  for (const ServiceSpec& service : scenario.services) {
    for (const Pin& pin : service.pins) {
      if (is_of_use(service, scenario.model_of(pin.slice.gpu), pin.slice.profile)) continue;
      return Conflict{.names = {service.name + ".pins"},
                      .why = fmt::format("GPU {}: wanted a slice that {} can serve or retrain on ({}.pins), found {}",
                                         pin.slice.gpu.index, service.name, service.name, pin_shown(scenario, pin))};
    }
  }
  return std::nullopt;
}

/// Two services with pins on one GPU.
struct PinnedPair {
  const ServiceSpec& first;
  const Pin& first_pin;
  const ServiceSpec& second;
  const Pin& second_pin;
};

std::optional<Conflict> conflict_of(const Scenario& scenario, const PinnedPair& pair) {
  const bool is_first_alone = pair.first.isolation == Isolation::kGpu;
  const bool is_alone = is_first_alone || pair.second.isolation == Isolation::kGpu;
  const bool are_apart = pair.first.trust_domain != pair.second.trust_domain;
  if (!is_alone && !are_apart) return std::nullopt;
  const bool is_first = is_alone ? is_first_alone : pair.first.trust_domain.has_value();
  const ServiceSpec& wanting = is_first ? pair.first : pair.second;
  const std::string third = wanting.name + (is_alone ? ".isolation" : ".trust_domain");
  Conflict conflict;
  conflict.why =
      fmt::format("GPU {}: wanted {} ({}), found pins of {} ({}) and {} ({})", pair.first_pin.slice.gpu.index,
                  is_alone ? fmt::format("{} alone", wanting.name)
                           : fmt::format("only services of trust domain {}", *wanting.trust_domain),
                  third, pair.first.name, pin_shown(scenario, pair.first_pin), pair.second.name,
                  pin_shown(scenario, pair.second_pin));
  for (const std::string& name : constraint_names(scenario)) {
    if (name == third || name == pair.first.name + ".pins" || name == pair.second.name + ".pins") {
      conflict.names.push_back(name);
    }
  }
  return conflict;
}

const Pin* pin_on(const ServiceSpec& service, GpuId gpu) {
  const auto it = std::ranges::find_if(service.pins, [&](const Pin& pin) { return pin.slice.gpu == gpu; });
  return it == service.pins.end() ? nullptr : &*it;
}

std::optional<Conflict> clash_of_neighbours(const Scenario& scenario) {
  for (std::size_t first = 0; first < scenario.services.size(); ++first) {
    for (const Pin& pin : scenario.services[first].pins) {
      for (std::size_t second = first + 1; second < scenario.services.size(); ++second) {
        const Pin* other = pin_on(scenario.services[second], pin.slice.gpu);
        if (other == nullptr) continue;
        auto conflict = conflict_of(scenario, {.first = scenario.services[first],
                                               .first_pin = pin,
                                               .second = scenario.services[second],
                                               .second_pin = *other});
        if (conflict) return conflict;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> constraint_names(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const ServiceSpec& service : scenario.services) {
    if (service.floor_attainment) names.push_back(service.name + ".floor");
    if (!service.pins.empty()) names.push_back(service.name + ".pins");
    if (service.isolation == Isolation::kGpu) names.push_back(service.name + ".isolation");
    if (service.trust_domain) names.push_back(service.name + ".trust_domain");
    if (service.changes_per_hour) names.push_back(service.name + ".changes_per_hour");
  }
  if (!scenario.frozen.empty()) names.emplace_back("frozen");
  return names;
}

Scenario with_only(const Scenario& scenario, std::span<const std::string> kept) {
  Scenario result = scenario;
  std::set<std::string> domains;
  for (const ServiceSpec& service : scenario.services) {
    if (service.trust_domain && is_named(kept, service.name + ".trust_domain")) domains.insert(*service.trust_domain);
  }
  for (ServiceSpec& service : result.services) {
    if (!is_named(kept, service.name + ".floor")) service.floor_attainment.reset();
    if (!is_named(kept, service.name + ".pins")) service.pins.clear();
    const bool is_freed = service.isolation == Isolation::kGpu && !is_named(kept, service.name + ".isolation");
    if (is_freed) service.isolation = Isolation::kMig;
    if (!is_named(kept, service.name + ".changes_per_hour")) service.changes_per_hour.reset();
    if (service.trust_domain && !domains.contains(*service.trust_domain)) service.trust_domain.reset();
  }
  if (!is_named(kept, "frozen")) result.frozen.clear();
  return result;
}

std::optional<Conflict> find_static_conflict(const Scenario& scenario) {
  if (auto conflict = pin_without_gpu(scenario)) return conflict;  // the others look at the pin's GPU
  if (auto conflict = useless_pin(scenario)) return conflict;
  return clash_of_neighbours(scenario);
}

}  // namespace berth
