#include "sim/world/latency_table.h"

#include <algorithm>
#include <array>

#include "base/core/ensure.h"

namespace berth::sim {

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

std::shared_ptr<const LatencyTable> LatencyTables::find(ServiceId service, const Slice& slice, std::size_t holder_count,
                                                        const std::optional<PointChoice>& choice) {
  const GpuModel& model = scenario_.model_of(slice.gpu);
  const PointChoice chosen = choice.value_or(PointChoice{.variant = -1, .batch = 0, .processes = 0});
  const Key key{service.index,  model.name,   slice.profile.index, holder_count,
                chosen.variant, chosen.batch, chosen.processes};
  const auto known = tables_.find(key);
  if (known != tables_.end()) return known->second;

  const ServiceSpec& spec = scenario_.services[service.index];
  auto point = profile::point_for(spec, model, slice.profile, choice);
  std::shared_ptr<LatencyTable> table;
  if (point) {
    table = std::make_shared<LatencyTable>();
    for (const Decimal& factor : factors(holder_count))
      table->latency_us.push_back(profile::latencies_us(*point, factor));
    table->point = std::move(*point);
  }
  tables_.emplace(key, table);
  return table;
}

}  // namespace berth::sim
