#include "domain/profile/slice_price.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domain/profile/operating_point.h"

namespace berth::profile {
namespace {

bool serves_on(const ServiceSpec& service, const GpuModel& model, ProfileId profile) {
  for (int variant = 0; variant <= static_cast<int>(service.variants.size()); ++variant) {
    if (choose_point(service, model, profile, variant)) return true;
  }
  return false;
}

/// The slices of the least price, as (GPU model, profile).
struct Cheapest {
  std::optional<Decimal> price;
  std::set<std::pair<std::string, std::string>> slices;
};

template <class Price>
Cheapest cheapest_of(const Scenario& scenario, const ServiceSpec& service, const Price& price_of) {
  Cheapest cheapest;
  const auto consider = [&](const FleetEntry& entry, ProfileId profile) {
    const std::optional<Decimal> price = price_of(entry, profile);
    if (!price || (cheapest.price && *cheapest.price < *price) || !serves_on(service, entry.model, profile)) return;
    if (!cheapest.price || *price < *cheapest.price) cheapest.slices.clear();
    cheapest.price = price;
    cheapest.slices.emplace(entry.model.name, profile_name(entry.model, profile));
  };
  for (const FleetEntry& entry : scenario.fleet) {
    if (entry.model.has_full) consider(entry, ProfileId::full());
    for (std::size_t index = 0; index < entry.model.profiles.size(); ++index) {
      consider(entry, {static_cast<std::uint16_t>(index)});
    }
  }
  return cheapest;
}

}  // namespace

Decimal unit_share(const GpuModel& model, ProfileId profile) {
  if (profile.is_full() || model.units == 0) return Decimal(1);
  return {model.profiles[profile.index].length, model.units};
}

std::optional<Decimal> slice_usd_per_hour(const FleetEntry& entry, ProfileId profile) {
  if (!entry.usd_per_gpu_hour) return std::nullopt;
  return *entry.usd_per_gpu_hour * unit_share(entry.model, profile);
}

std::optional<Decimal> cheapest_slice_usd_per_hour(const Scenario& scenario, const ServiceSpec& service) {
  const auto price = [](const FleetEntry& entry, ProfileId profile) { return slice_usd_per_hour(entry, profile); };
  return cheapest_of(scenario, service, price).price;
}

ServiceSpec on_cheapest_slices(const Scenario& scenario, ServiceSpec service) {
  const auto price = [](const FleetEntry& entry, ProfileId profile) {
    return std::optional(entry.usd_per_gpu_hour.value_or(Decimal(1)) * unit_share(entry.model, profile));
  };
  const Cheapest cheapest = cheapest_of(scenario, service, price);
  if (cheapest.slices.empty()) return service;
  const auto is_other = [&](const PerformancePoint& point) {
    return !cheapest.slices.contains({point.gpu, point.profile});
  };
  std::erase_if(service.table.points, is_other);
  for (Variant& variant : service.variants) std::erase_if(variant.table.points, is_other);
  return service;
}

}  // namespace berth::profile
