#include "engine/rivals/detail/variant_rates.h"

#include <algorithm>

#include "domain/profile/operating_point.h"

namespace berth::partition::detail {

std::vector<JobRates> rates_by_variant(const FleetView& fleet, double capacity_factor) {
  const SharedList<ServiceSpec>& services = fleet.scenario->services;
  std::size_t variants_max = 0;
  for (const ServiceSpec& service : services) variants_max = std::max(variants_max, service.variants.size());
  std::vector<JobRates> rates(variants_max + 1, job_rates(fleet));
  for (std::size_t variant = 1; variant < rates.size(); ++variant) {
    for (std::size_t model = 0; model < fleet.models.size(); ++model) {
      const ModelView& view = fleet.models[model];
      for (std::size_t kind = 0; kind < view.map.kinds.size(); ++kind) {
        for (std::size_t service = 0; service < services.size(); ++service) {
          const auto point = profile::choose_point(services[service], *view.model, view.map.kinds[kind].profile,
                                                   static_cast<int>(variant));
          rates[variant].requests_per_second[model][kind][service] = point ? point->requests_per_second.to_double() : 0;
        }
      }
    }
  }
  for (JobRates& of_variant : rates) {
    for (auto& by_kind : of_variant.requests_per_second) {
      for (auto& by_service : by_kind) {
        for (double& rate : by_service) rate *= capacity_factor;
      }
    }
  }
  return rates;
}

std::optional<PointChoice> point_of_variant(const Scenario& scenario, const Slice& slice, ServiceId service,
                                            int variant) {
  if (variant == 0) return std::nullopt;
  const auto point =
      profile::choose_point(scenario.services[service.index], scenario.model_of(slice.gpu), slice.profile, variant);
  if (!point) return std::nullopt;
  return PointChoice{.variant = variant, .batch = point->batch, .processes = point->processes};
}

}  // namespace berth::partition::detail
