#include "domain/profile/least_cost.h"

#include <algorithm>
#include <vector>

#include "domain/profile/operating_point.h"

namespace berth::profile {

std::optional<double> least_sm_us_per_request(const Scenario& scenario, const ServiceSpec& service) {
  constexpr double kMicrosPerUnit = 1e6;
  const UsableRule rule = usable_rule(service);
  std::optional<double> least;
  for (const FleetEntry& entry : scenario.fleet) {
    std::vector<ProfileId> profiles{ProfileId::full()};
    for (std::size_t index = 0; index < entry.model.profiles.size(); ++index) {
      profiles.push_back({static_cast<std::uint16_t>(index)});
    }
    for (const ProfileId profile : profiles) {
      for (const PerformancePoint& point : points_on(service.table, entry.model, profile)) {
        if (!is_usable(point, rule)) continue;
        const double cost = profile_sms(entry.model, profile) * kMicrosPerUnit / point.requests_per_second.to_double();
        least = std::min(least.value_or(cost), cost);
      }
    }
  }
  return least;
}

}  // namespace berth::profile
