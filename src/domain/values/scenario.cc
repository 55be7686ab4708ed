#include "domain/values/scenario.h"

#include <algorithm>

#include "base/core/ensure.h"
#include "domain/values/start_times.h"

namespace berth {

std::uint32_t Scenario::gpu_count() const {
  std::int64_t count = 0;
  for (const FleetEntry& entry : fleet) count += entry.count;
  return static_cast<std::uint32_t>(count);
}

const FleetEntry& Scenario::entry_of(GpuId gpu) const {
  std::int64_t before = 0;
  for (const FleetEntry& entry : fleet) {
    before += entry.count;
    if (gpu.index < before) return entry;
  }
  ENSURE(false && "a GPU of the fleet");
  return fleet.front();
}

std::int64_t Scenario::simulated_seconds() const {
  std::int64_t longest = 0;
  for (const ServiceSpec& service : services) longest = std::max(longest, service.arrivals.seconds);
  return longest;
}

Micros assumed_time(const Scenario& scenario, ActionKind action) {
  return action == ActionKind::kCreation ? scenario.changes.create : scenario.changes.destroy;
}

Micros change_time(const Scenario& scenario, const GpuModel& model, ProfileId profile, ActionKind action) {
  if (scenario.measured_times.empty()) return assumed_time(scenario, action);  // avoids building names
  return change_time(scenario, {.model = model.name, .profile = profile_name(model, profile), .action = action});
}

Micros change_time(const Scenario& scenario, const ChangeKind& change) {
  const auto measured = scenario.measured_times.find(change);
  return measured == scenario.measured_times.end() ? assumed_time(scenario, change.action) : measured->second.median;
}

Micros longest_change_time(const Scenario& scenario, ActionKind action) {
  Micros longest = assumed_time(scenario, action);
  for (const auto& [change, time] : scenario.measured_times) {
    if (change.action == action && !is_start(change)) longest = std::max(longest, time.median);
  }
  return longest;
}

std::string service_label(const Scenario& scenario, ServiceId service) {
  ENSURE(service.index < scenario.services.size());
  const ServiceSpec& spec = scenario.services[service.index];
  const bool is_ambiguous = std::ranges::any_of(scenario.services, [&](const ServiceSpec& other) {
    return other.name == spec.name && other.tenant != spec.tenant && !other.is_absent;
  });
  return is_ambiguous ? spec.tenant + "/" + spec.name : spec.name;
}

std::optional<Micros> retraining_time_on(const Retraining& retraining, const GpuModel& model, ProfileId profile) {
  const auto listed = [&](int size) -> std::optional<Micros> {
    const auto it = retraining.time_on.find(size);
    if (it == retraining.time_on.end()) return std::nullopt;
    return it->second;
  };
  if (!profile.is_full()) {
    ENSURE(profile.index < model.profiles.size());
    return listed(model.profiles[profile.index].compute_slices);
  }
  if (!model.has_full) return std::nullopt;
  constexpr int kWholeGpuKey = 0;
  const auto whole = listed(kWholeGpuKey);
  return whole || !model.is_mig_capable() ? whole : listed(model.compute_slices);
}

}  // namespace berth
