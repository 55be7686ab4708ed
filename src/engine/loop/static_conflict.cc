#include "engine/loop/static_conflict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "domain/profile/operating_point.h"
#include "domain/values/gpu_name.h"

namespace berth {
namespace {

using enum ConstraintKind;

bool has_usable_point(const PerformanceTable& table, const ServiceSpec& service, const GpuModel& model,
                      ProfileId profile) {
  return std::ranges::any_of(profile::points_on(table, model, profile), [&](const PerformancePoint& point) {
    return point.processes <= service.batching.processes_max && point.latency_ms <= service.target_ms;
  });
}

bool can_serve_on(const ServiceSpec& service, const GpuModel& model, ProfileId profile) {
  if (has_usable_point(service.table, service, model, profile)) return true;
  return std::ranges::any_of(service.variants, [&](const Variant& variant) {
    return has_usable_point(variant.table, service, model, profile);
  });
}

bool is_of_use(const ServiceSpec& service, const GpuModel& model, ProfileId profile) {
  if (service.retraining && retraining_time_on(*service.retraining, model, profile)) return true;
  return can_serve_on(service, model, profile);
}

std::string pin_shown(const Scenario& scenario, const Pin& pin) {
  return fmt::format("{}@{}", profile_name(scenario.model_of(pin.slice.gpu), pin.slice.profile), pin.slice.start);
}

StaticConflict conflict_of_pin(ServiceId service, const Pin& pin, std::string wanted, std::string found) {
  return {.constraints = {constraint_of(service, kPins)},
          .gpu = pin.slice.gpu,
          .wanted = std::move(wanted),
          .found = std::move(found)};
}

/// A fleet may have fewer GPUs than the file says: `berth size` tries counts.
std::optional<StaticConflict> pin_without_gpu(const Scenario& scenario) {
  const std::uint32_t gpus = scenario.gpu_count();
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceSpec& service = scenario.services[index];
    for (const Pin& pin : service.pins) {
      if (pin.slice.gpu.index < gpus) continue;
      const std::string label = service_label(scenario, {index});
      return conflict_of_pin({index}, pin, fmt::format("a GPU with a slice for {} alone ({}.pins)", label, label),
                             fmt::format("a fleet of {}", gpus));
    }
  }
  return std::nullopt;
}

std::optional<StaticConflict> useless_pin(const Scenario& scenario) {
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceSpec& service = scenario.services[index];
    for (const Pin& pin : service.pins) {
      if (is_of_use(service, scenario.model_of(pin.slice.gpu), pin.slice.profile)) continue;
      const std::string label = service_label(scenario, {index});
      return conflict_of_pin({index}, pin,
                             fmt::format("a slice that {} can serve or retrain on ({}.pins)", label, label),
                             pin_shown(scenario, pin));
    }
  }
  return std::nullopt;
}

/// A service retrains on one slice at a time, so it can hold only one slice on which it cannot serve.
std::optional<StaticConflict> pins_to_retrain_on(const Scenario& scenario) {
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceSpec& service = scenario.services[index];
    const Pin* first = nullptr;
    for (const Pin& pin : service.pins) {
      if (can_serve_on(service, scenario.model_of(pin.slice.gpu), pin.slice.profile)) continue;
      if (first == nullptr) {
        first = &pin;
        continue;
      }
      const std::string label = service_label(scenario, {index});
      return conflict_of_pin(
          {index}, pin, fmt::format("at most one pinned slice on which {} can only retrain ({}.pins)", label, label),
          fmt::format("{} on {} and {}", pin_shown(scenario, *first), gpu_name(first->slice.gpu),
                      pin_shown(scenario, pin)));
    }
  }
  return std::nullopt;
}

/// A service and one of its pins.
struct PinOf {
  ServiceId service;
  const Pin& pin;
};

/// The conflict of two services, the first before the second in the file, with pins on one GPU.
std::optional<StaticConflict> conflict_of(const Scenario& scenario, const PinOf& first, const PinOf& second) {
  const ServiceSpec& one = scenario.services[first.service.index];
  const ServiceSpec& other = scenario.services[second.service.index];
  const bool is_first_alone = one.isolation == Isolation::kGpu;
  const bool is_alone = is_first_alone || other.isolation == Isolation::kGpu;
  const bool are_apart = one.trust_domain != other.trust_domain;
  if (!is_alone && !are_apart) return std::nullopt;
  const bool is_first = is_alone ? is_first_alone : one.trust_domain.has_value();
  const ServiceSpec& wanting = is_first ? one : other;
  const ConstraintId third =
      constraint_of(is_first ? first.service : second.service, is_alone ? kIsolation : kTrustDomain);
  StaticConflict conflict;
  conflict.constraints = {constraint_of(first.service, kPins), constraint_of(second.service, kPins), third};
  std::ranges::sort(conflict.constraints);
  conflict.gpu = first.pin.slice.gpu;
  conflict.wanted =
      fmt::format("{} ({})",
                  is_alone ? fmt::format("{} alone", service_label(scenario, is_first ? first.service : second.service))
                           : fmt::format("only services of trust domain {}", *wanting.trust_domain),
                  constraint_name(scenario, third));
  conflict.found =
      fmt::format("pins of {} ({}) and {} ({})", service_label(scenario, first.service), pin_shown(scenario, first.pin),
                  service_label(scenario, second.service), pin_shown(scenario, second.pin));
  return conflict;
}

const Pin* pin_on(const ServiceSpec& service, GpuId gpu) {
  const auto it = std::ranges::find_if(service.pins, [&](const Pin& pin) { return pin.slice.gpu == gpu; });
  return it == service.pins.end() ? nullptr : &*it;
}

std::optional<StaticConflict> clash_of_neighbours(const Scenario& scenario) {
  for (std::uint32_t first = 0; first < scenario.services.size(); ++first) {
    for (const Pin& pin : scenario.services[first].pins) {
      for (std::uint32_t second = first + 1; second < scenario.services.size(); ++second) {
        const Pin* other = pin_on(scenario.services[second], pin.slice.gpu);
        if (other == nullptr) continue;
        auto conflict = conflict_of(scenario, {.service = {first}, .pin = pin}, {.service = {second}, .pin = *other});
        if (conflict) return conflict;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::string StaticConflict::text() const {
  return fmt::format("{}: wanted {}, found {}", gpu_name(gpu), wanted, found);
}

std::vector<ConstraintId> constraints_of(const Scenario& scenario) {
  std::vector<ConstraintId> constraints;
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceSpec& service = scenario.services[index];
    const auto add = [&](bool is_set, ConstraintKind kind) {
      if (is_set) constraints.push_back(constraint_of({index}, kind));
    };
    add(service.floor_attainment.has_value(), kFloor);
    add(!service.pins.empty(), kPins);
    add(service.isolation == Isolation::kGpu, kIsolation);
    add(service.trust_domain.has_value(), kTrustDomain);
    add(service.changes_per_hour.has_value(), kChangesPerHour);
  }
  if (!scenario.frozen.empty() || !scenario.no_changes.spans.empty()) constraints.push_back(kFrozenConstraint);
  return constraints;
}

Scenario with_only(const Scenario& scenario, std::span<const ConstraintId> kept) {
  const std::set<ConstraintId> all(kept.begin(), kept.end());
  const auto is_kept = [&](std::uint32_t service, ConstraintKind kind) {
    return all.contains(constraint_of({service}, kind));
  };
  Scenario result = scenario;
  std::set<std::string> domains;
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const auto& domain = scenario.services[index].trust_domain;
    if (domain && is_kept(index, kTrustDomain)) domains.insert(*domain);
  }
  for (std::uint32_t index = 0; index < result.services.size(); ++index) {
    ServiceSpec& service = result.services[index];
    if (!is_kept(index, kFloor)) service.floor_attainment.reset();
    if (!is_kept(index, kPins)) service.pins.clear();
    const bool is_freed = service.isolation == Isolation::kGpu && !is_kept(index, kIsolation);
    if (is_freed) service.isolation = Isolation::kMig;
    if (!is_kept(index, kChangesPerHour)) service.changes_per_hour.reset();
    if (service.trust_domain && !domains.contains(*service.trust_domain)) service.trust_domain.reset();
  }
  if (!all.contains(kFrozenConstraint)) {
    result.frozen.clear();
    result.no_changes = {};
  }
  return result;
}

std::optional<StaticConflict> find_static_conflict(const Scenario& scenario) {
  if (auto conflict = pin_without_gpu(scenario)) return conflict;  // the others look at the pin's GPU
  if (auto conflict = useless_pin(scenario)) return conflict;
  if (auto conflict = pins_to_retrain_on(scenario)) return conflict;
  return clash_of_neighbours(scenario);
}

}  // namespace berth
