#include "domain/values/series.h"

#include <algorithm>

namespace berth {

void add_figures(ServiceFigures& sum, const ServiceFigures& more) {
  sum.seconds += more.seconds;
  sum.requests += more.requests;
  sum.in_time += more.in_time;
  sum.late += more.late;
  sum.dropped += more.dropped;
  sum.accuracy_sum_micro += more.accuracy_sum_micro;
  sum.queued_max = std::max(sum.queued_max, more.queued_max);
  add_buckets(sum.latencies, more.latencies);
  if (more.batches) sum.batches = sum.batches.value_or(0) + *more.batches;
  sum.settled.clear();
}

void add_figures(FleetFigures& sum, const FleetFigures& more) {
  sum.covered_us += more.covered_us;
  sum.available_us += more.available_us;
  sum.allocated_us += more.allocated_us;
  sum.busy_us += more.busy_us;
  sum.effective_us += more.effective_us;
  sum.lost_gpus_max = std::max(sum.lost_gpus_max, more.lost_gpus_max);
  sum.micro_usd_per_hour = more.micro_usd_per_hour;
}

std::optional<ServiceFigures> total_of(const SeriesSpan& span) {
  if (span.services.empty()) return std::nullopt;
  ServiceFigures total{.service = kAllServices};
  for (const ServiceFigures& each : span.services) {
    total.requests += each.requests;
    total.in_time += each.in_time;
    total.late += each.late;
    total.dropped += each.dropped;
    total.accuracy_sum_micro += each.accuracy_sum_micro;
    total.queued_max += each.queued_max;
  }
  return total;
}

}  // namespace berth
