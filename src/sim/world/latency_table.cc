#include "sim/world/latency_table.h"

#include <algorithm>
#include <array>

#include "base/core/ensure.h"
#include "domain/profile/at_speed.h"

namespace berth::sim {
namespace {

/// The rows among which the point is.
const PerformanceTable& table_of(const ServiceSpec& spec, const profile::OperatingPoint& point) {
  return point.variant == 0 ? spec.table : spec.variants[static_cast<std::size_t>(point.variant) - 1].table;
}

}  // namespace

Decimal sharing_factor(Sharing sharing, int busy_count) {
  ENSURE(busy_count >= 1);
  if (sharing == Sharing::kTimeSlices || busy_count == 1) return Decimal(busy_count);
  // Factors at 1, 3, 5, 7 in hundredths; the last segment is extended beyond 7.
  constexpr std::array<std::int64_t, 4> kHundredths = {100, 186, 274, 364};
  const auto segment = static_cast<std::size_t>(std::min((busy_count - 1) / 2, 2));
  const std::int64_t low = kHundredths[segment];
  const std::int64_t high = kHundredths[segment + 1];
  const std::int64_t steps = busy_count - 1 - 2 * static_cast<std::int64_t>(segment);
  return Decimal(2 * low + steps * (high - low), 200);
}

std::vector<Decimal> LatencyTables::factors(std::size_t holder_count) const {
  if (holder_count <= 1) return scenario_.interference;
  std::vector<Decimal> by_others;
  for (std::size_t busy = 1; busy <= holder_count; ++busy) {
    by_others.push_back(sharing_factor(sharing_, static_cast<int>(busy)));
  }
  return by_others;
}

void LatencyTables::forget(ServiceId service) {
  std::erase_if(tables_, [&](const auto& entry) { return std::get<0>(entry.first) == service.index; });
}

std::int64_t accuracy_micro(const ServiceSpec& service, const LatencyTable& table, bool is_stale) {
  const auto variant = static_cast<std::size_t>(table.point.variant);
  const bool is_known = variant > 0 && variant <= service.variants.size();
  const Accuracy& accuracy = is_known ? service.variants[variant - 1].accuracy : service.accuracy;
  return is_stale ? accuracy.before_micro : accuracy.after_micro;
}

/// The point by the table; which one it is by default depends on the speed factors.
std::optional<profile::OperatingPoint> LatencyTables::point_of(ServiceId service, const GpuModel& model,
                                                               ProfileId profile,
                                                               const std::optional<PointChoice>& choice) const {
  const ServiceSpec& spec = scenario_.services[service.index];
  if (choice || !has_speed(scenario_.speeds, service)) return profile::point_for(spec, model, profile, choice);
  const auto seen = profile::choose_point(profile::spec_at_speed(scenario_, service), model, profile);
  if (!seen) return std::nullopt;
  return profile::point_for(spec, model, profile,
                            PointChoice{.variant = seen->variant, .batch = seen->batch, .processes = seen->processes});
}

std::shared_ptr<const LatencyTable> LatencyTables::find(ServiceId service, const Slice& slice, std::size_t holder_count,
                                                        const std::optional<PointChoice>& choice) {
  const GpuModel& model = scenario_.model_of(slice.gpu);
  const PointChoice chosen = choice.value_or(PointChoice{.variant = -1, .batch = 0, .processes = 0});
  const Key key{service.index,  model.name,   slice.profile.index, holder_count,
                chosen.variant, chosen.batch, chosen.processes};
  const auto known = tables_.find(key);
  if (known != tables_.end()) return known->second;

  const ServiceSpec& spec = scenario_.services[service.index];
  auto point = point_of(service, model, slice.profile, choice);
  std::shared_ptr<LatencyTable> table;
  if (point) {
    table = std::make_shared<LatencyTable>();
    table->profile = profile::rows_profile(table_of(spec, *point), model, slice.profile);
    const Decimal speed =
        speed_in_force(scenario_.speeds, {.service = service, .gpu = model.name, .profile = table->profile});
    for (const Decimal& factor : factors(holder_count)) {
      table->latency_us.push_back(profile::latencies_us(*point, factor));
      if (speed != Decimal(1)) table->expected_us.push_back(profile::latencies_us(*point, factor * speed));
    }
    table->point = std::move(*point);
  }
  tables_.emplace(key, table);
  return table;
}

}  // namespace berth::sim
