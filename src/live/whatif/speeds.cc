#include "live/whatif/speeds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "domain/profile/at_speed.h"

namespace berth::whatif {
namespace {

/// Since when the service has had the table that it has at the window's end.
Instant table_since(const ServicePast& service, const Span& window) {
  Instant since;
  const SpecPast* before = nullptr;
  for (const SpecPast& spec : service.specs) {
    if (spec.at >= window.until) break;
    if (before != nullptr && has_new_table(*before->spec, *spec.spec)) since = spec.at;
    before = &spec;
  }
  for (const Span& life : service.lives) {
    if (life.from < window.until) since = std::max(since, life.from);
  }
  return since;
}

/// As files of a scenario can say it.
void round_rows(PerformanceTable& table) {
  const auto rounded = [](const Decimal& value) {
    const Decimal million(1'000'000);
    return std::max(Decimal((value * million).round_half_even()), Decimal(1)) / million;
  };
  for (PerformancePoint& point : table.points) {
    point.latency_ms = rounded(point.latency_ms);
    point.requests_per_second = rounded(point.requests_per_second);
  }
}

}  // namespace

SpeedFactors factors_in(const Chronicle& chronicle, const ServicePast& service, const Span& window) {
  const auto index = static_cast<std::size_t>(&service - chronicle.services.data());
  const Instant since = table_since(service, window);
  SpeedFactors factors;
  for (const SpeedPast& speed : chronicle.speeds) {
    if (speed.place.service.index != index || speed.at < since || speed.at >= window.until) continue;
    SpeedPlace place = speed.place;
    place.service = ServiceId{0};
    if (speed.factor) {
      factors[std::move(place)] = {.factor = *speed.factor, .batches = 1, .at = speed.at, .is_used = true};
    } else if (speed.at <= window.from) {
      // One that ends later, as nothing is asked for any more, was right until then.
      factors.erase(place);
    }
  }
  // One at 1 keeps the mean of the others away from its place.
  const bool has_any = std::ranges::any_of(factors, [](const auto& each) { return each.second.factor != Decimal(1); });
  return has_any ? factors : SpeedFactors();
}

ServiceSpec at_measured_speed(const ServiceSpec& spec, const SpeedFactors& factors) {
  if (factors.empty()) return spec;
  ServiceSpec scaled = profile::at_speed(spec, ServiceId{0}, factors);
  scaled.tier.slow_on = spec.tier.slow_on;
  round_rows(scaled.table);
  for (Variant& variant : scaled.variants) round_rows(variant.table);
  return scaled;
}

std::string remark_on(const ServicePast& service, const SpeedFactors& factors) {
  std::vector<std::string> places;
  for (const auto& [place, speed] : factors) {
    places.push_back(fmt::format("{} {} x {}", place.gpu, place.profile, speed.factor.to_string()));
  }
  return fmt::format("{}.{}: batches took another time than its table says ({}): its profile here has table x factor",
                     service.name.tenant, service.name.name, fmt::join(places, ", "));
}

}  // namespace berth::whatif
