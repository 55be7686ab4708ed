#include "domain/profile/slice_price.h"

#include <cstddef>
#include <cstdint>

#include "domain/profile/operating_point.h"

namespace berth::profile {
namespace {

bool serves_on(const ServiceSpec& service, const GpuModel& model, ProfileId profile) {
  for (int variant = 0; variant <= static_cast<int>(service.variants.size()); ++variant) {
    if (choose_point(service, model, profile, variant)) return true;
  }
  return false;
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
  std::optional<Decimal> cheapest;
  const auto consider = [&](const FleetEntry& entry, ProfileId profile) {
    const std::optional<Decimal> price = slice_usd_per_hour(entry, profile);
    if (!price || (cheapest && *cheapest <= *price) || !serves_on(service, entry.model, profile)) return;
    cheapest = price;
  };
  for (const FleetEntry& entry : scenario.fleet) {
    if (entry.model.has_full) consider(entry, ProfileId::full());
    for (std::size_t index = 0; index < entry.model.profiles.size(); ++index) {
      consider(entry, {static_cast<std::uint16_t>(index)});
    }
  }
  return cheapest;
}

}  // namespace berth::profile
