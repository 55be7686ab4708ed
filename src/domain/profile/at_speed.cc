#include "domain/profile/at_speed.h"

#include <algorithm>
#include <map>
#include <utility>

#include "domain/profile/operating_point.h"

namespace berth::profile {
namespace {

/// A GPU model and a profile, by name.
using RowsPlace = std::pair<std::string, std::string>;

class Scaling {
 public:
  Scaling(ServiceId service, const SpeedFactors& speeds) : service_(service), speeds_(speeds) {}

  void scale(PerformanceTable& table) {
    for (PerformancePoint& point : table.points) {
      const Decimal& factor = factor_at({point.gpu, point.profile});
      if (factor == Decimal(1)) continue;
      point.latency_ms = point.latency_ms * factor;
      point.requests_per_second = point.requests_per_second / factor;
    }
  }

 private:
  const Decimal& factor_at(const RowsPlace& place) {
    const auto [known, is_new] = factors_.try_emplace(place);
    if (is_new) {
      known->second = speed_in_force(speeds_, {.service = service_, .gpu = place.first, .profile = place.second});
    }
    return known->second;
  }

  ServiceId service_;
  const SpeedFactors& speeds_;
  std::map<RowsPlace, Decimal> factors_;
};

/// The places with a usable row.
std::map<RowsPlace, bool> usable_places(const PerformanceTable& table, const UsableRule& rule) {
  std::map<RowsPlace, bool> places;
  for (const PerformancePoint& point : table.points) {
    bool& is_any = places[{point.gpu, point.profile}];
    is_any = is_any || is_usable(point, rule);
  }
  return places;
}

}  // namespace

std::string rows_profile(const PerformanceTable& table, const GpuModel& model, ProfileId profile) {
  const std::vector<PerformancePoint> rows = points_on(table, model, profile);
  return rows.empty() ? profile_name(model, profile) : rows.front().profile;
}

ServiceSpec at_speed(ServiceSpec spec, ServiceId service, const SpeedFactors& speeds) {
  if (!has_speed(speeds, service)) return spec;
  const UsableRule rule = usable_rule(spec);
  const std::map<RowsPlace, bool> before = usable_places(spec.table, rule);
  Scaling scaling(service, speeds);
  scaling.scale(spec.table);
  for (Variant& variant : spec.variants) scaling.scale(variant.table);
  spec.tier.slow_on.clear();
  for (const auto& [place, is_usable] : usable_places(spec.table, rule)) {
    if (!is_usable && before.at(place)) spec.tier.slow_on.push_back(place);
  }
  return spec;
}

ServiceSpec spec_at_speed(const Scenario& scenario, ServiceId service) {
  return at_speed(scenario.services[service.index], service, scenario.speeds);
}

}  // namespace berth::profile
