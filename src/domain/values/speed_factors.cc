#include "domain/values/speed_factors.h"

#include <cstddef>

#include "domain/values/service.h"

namespace berth {
namespace {

/// The factors of a service begin here.
SpeedFactors::const_iterator first_of(const SpeedFactors& speeds, ServiceId service) {
  return speeds.lower_bound({.service = service, .gpu = {}, .profile = {}});
}

/// A factor of 1 by no batch: what was recorded there has ended, and slices may stand at points that it made the best.
bool has_ended(const SpeedFactor& speed) { return speed.batches == 0 && speed.factor == Decimal(1); }

Decimal speed_at(const SpeedFactors& speeds, const SpeedPlace& place, bool with_reported) {
  const auto counts = [&](const SpeedFactor& speed) { return (speed.is_used || with_reported) && !has_ended(speed); };
  const auto own = speeds.find(place);
  if (own != speeds.end() && counts(own->second)) return own->second.factor;
  Decimal sum;
  std::int64_t count = 0;
  for (auto it = first_of(speeds, place.service); it != speeds.end() && it->first.service == place.service; ++it) {
    if (it->first.gpu != place.gpu || !counts(it->second)) continue;
    sum += it->second.factor;
    ++count;
  }
  return count == 0 ? Decimal(1) : sum / Decimal(count);
}

}  // namespace

Decimal speed_in_force(const SpeedFactors& speeds, const SpeedPlace& place) { return speed_at(speeds, place, false); }

Decimal speed_reported(const SpeedFactors& speeds, const SpeedPlace& place) { return speed_at(speeds, place, true); }

bool has_speed(const SpeedFactors& speeds, ServiceId service) {
  for (auto it = first_of(speeds, service); it != speeds.end() && it->first.service == service; ++it) {
    if (it->second.is_used) return true;
  }
  return false;
}

void forget_speeds(SpeedFactors& speeds, ServiceId service) {
  std::erase_if(speeds, [&](const auto& each) { return each.first.service == service; });
}

bool has_new_table(const ServiceSpec& before, const ServiceSpec& after) {
  if (before.is_absent != after.is_absent || before.table != after.table) return true;
  if (before.variants.size() != after.variants.size()) return true;
  for (std::size_t index = 0; index < before.variants.size(); ++index) {
    if (before.variants[index].table != after.variants[index].table) return true;
  }
  return false;
}

}  // namespace berth
