#include "domain/values/start_times.h"

#include <utility>

namespace berth {
namespace {

constexpr const char* kStartProfile = "start";

}  // namespace

ChangeKind start_kind(const ServiceSpec& service) {
  return {.model = service.tenant + "/" + service.name, .profile = kStartProfile, .action = ActionKind::kCreation};
}

bool is_start(const ChangeKind& change) {
  return change.profile == kStartProfile && change.model.find('/') != std::string::npos;
}

Micros start_time(const Scenario& scenario, const ServiceSpec& service) {
  if (scenario.measured_times.empty() || !service.running.program) return service.start;
  const auto measured = scenario.measured_times.find(start_kind(service));
  return measured == scenario.measured_times.end() ? service.start : measured->second.median;
}

std::optional<Micros> start_time(const Scenario& scenario, const ChangeKind& change) {
  const auto measured = scenario.measured_times.find(change);
  if (measured != scenario.measured_times.end()) return measured->second.median;
  for (const ServiceSpec& service : scenario.services) {
    if (!service.is_absent && start_kind(service) == change) return service.start;
  }
  return std::nullopt;
}

}  // namespace berth
