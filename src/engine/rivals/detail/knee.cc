#include "engine/rivals/detail/knee.h"

#include <algorithm>

#include "base/core/ensure.h"
#include "domain/profile/operating_point.h"

namespace berth::partition::detail {

Decimal slack_ms(const FleetView& fleet, int service) {
  const ServiceSpec& spec = fleet.scenario->services[service];
  const ModelView* largest_view = nullptr;
  int largest_kind = 0;
  for (const ModelView& view : fleet.models) {
    for (int kind = 0; kind <= view.full_kind(); ++kind) {
      if (!view.can_serve(kind, service)) continue;
      if (largest_view != nullptr && view.map.kinds[kind].sms <= largest_view->map.kinds[largest_kind].sms) continue;
      largest_view = &view;
      largest_kind = kind;
    }
  }
  ENSURE(largest_view != nullptr);
  const auto point = profile::choose_point(spec, *largest_view->model, largest_view->map.kinds[largest_kind].profile);
  return std::max(Decimal(0), spec.target_ms - point->latency_ms);
}

BatchHistogram batch_histogram(std::span<const std::uint32_t> history, const Decimal& slack_ms, int batch_max) {
  std::map<std::uint32_t, std::int64_t> seconds_by_rate;
  for (const std::uint32_t rate : history) ++seconds_by_rate[rate];
  BatchHistogram histogram;
  for (const auto& [rate, seconds] : seconds_by_rate) {
    if (rate == 0) continue;
    const Decimal waiting = Decimal(rate) * slack_ms / Decimal(1000);
    const int batch = waiting >= Decimal(batch_max) ? batch_max : static_cast<int>(waiting.floor()) + 1;
    histogram[std::min(batch, batch_max)] += seconds * rate;
  }
  return histogram;
}

KneeTable::KneeTable(const ServiceSpec& service, const ModelView& view) {
  const profile::UsableRule rule = profile::usable_rule(service);
  for (const mig::SiteKind& kind : view.map.kinds) {
    sms_.push_back(kind.sms);
    std::map<int, Decimal>& by_batch = points_.emplace_back();
    if (!service.tier.allows(view.model->name)) continue;
    for (const PerformancePoint& point : profile::points_on(service.table, *view.model, kind.profile)) {
      if (!profile::is_usable(point, rule)) continue;
      Decimal& most = by_batch[point.batch];
      most = std::max(most, point.requests_per_second);
    }
  }
}

int KneeTable::batch_max() const {
  int most = 0;
  for (const auto& by_batch : points_) {
    if (!by_batch.empty()) most = std::max(most, by_batch.rbegin()->first);
  }
  return most;
}

std::optional<Knee> KneeTable::knee(int batch) const {
  const int wanted = std::min(batch, batch_max());
  std::optional<Knee> best;
  for (int kind = 0; kind < static_cast<int>(points_.size()); ++kind) {
    const auto point = points_[kind].lower_bound(wanted);
    if (point == points_[kind].end()) continue;
    // Throughput per SM, compared by cross-multiplication; ties: the first kind.
    if (!best || point->second * Decimal(sms_[best->kind]) > best->requests_per_second * Decimal(sms_[kind])) {
      best = Knee{kind, point->second};
    }
  }
  return best;
}

}  // namespace berth::partition::detail
