#include "domain/profile/operating_point.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/core/duration.h"
#include "base/core/ensure.h"
#include "domain/values/scenario.h"

namespace berth::profile {
namespace {

std::vector<PerformancePoint> rows_of(const PerformanceTable& table, const std::string& gpu,
                                      const std::string& profile) {
  const auto is_row = [&](const PerformancePoint& point) { return point.profile == profile && point.gpu == gpu; };
  std::vector<PerformancePoint> rows;
  rows.reserve(static_cast<std::size_t>(std::ranges::count_if(table.points, is_row)));  // points are expensive to copy
  std::ranges::copy_if(table.points, std::back_inserter(rows), is_row);
  return rows;
}

/// The plain profile with the most compute slices and units; nullptr if the GPU has no MIG.
const MigProfile* largest_profile(const GpuModel& model) {
  const MigProfile* largest = nullptr;
  const auto size_of = [](const MigProfile& p) { return std::tuple(p.is_plain(), p.compute_slices, p.length); };
  for (const MigProfile& profile : model.profiles) {
    if (largest == nullptr || size_of(profile) > size_of(*largest)) largest = &profile;
  }
  return largest;
}

/// Latency of a batch of `size` by the rows of one number of processes, ascending by batch. Requires: a row at or above
/// it.
Decimal latency_ms_at(const std::vector<PerformancePoint>& rows, int size) {
  const auto above =
      std::find_if(rows.begin(), rows.end(), [&](const PerformancePoint& row) { return row.batch >= size; });
  ENSURE(above != rows.end());
  if (above->batch == size || above == rows.begin()) return above->latency_ms;
  const PerformancePoint& below = *(above - 1);
  const Decimal share(size - below.batch, above->batch - below.batch);
  return below.latency_ms + (above->latency_ms - below.latency_ms) * share;
}

OperatingPoint point_from(const std::vector<PerformancePoint>& points, const PerformancePoint& chosen, int variant) {
  std::vector<PerformancePoint> rows;
  for (const PerformancePoint& point : points) {
    if (point.processes == chosen.processes) rows.push_back(point);
  }
  OperatingPoint result{variant, chosen.batch, chosen.processes, chosen.requests_per_second, chosen.latency_ms, {}};
  result.latency_ms_by_batch.reserve(static_cast<std::size_t>(chosen.batch));
  for (int size = 1; size <= chosen.batch; ++size) result.latency_ms_by_batch.push_back(latency_ms_at(rows, size));
  return result;
}

/// The table of a variant (0: the service's own), or nullptr.
const PerformanceTable* table_of(const ServiceSpec& service, int variant) {
  if (variant < 0 || static_cast<std::size_t>(variant) > service.variants.size()) return nullptr;
  return variant == 0 ? &service.table : &service.variants[static_cast<std::size_t>(variant) - 1].table;
}

/// Whether `a` is the better default of two usable points.
bool is_better(const PerformancePoint& a, const PerformancePoint& b) {
  if (a.requests_per_second != b.requests_per_second) return a.requests_per_second > b.requests_per_second;
  return std::tuple(a.batch, a.processes) < std::tuple(b.batch, b.processes);
}

/// Whether the place of these rows is slower than its table, so that none is usable.
bool is_slow_place(const ServiceSpec& service, std::span<const PerformancePoint> points) {
  return !points.empty() &&
         std::ranges::binary_search(service.tier.slow_on, std::pair(points.front().gpu, points.front().profile));
}

/// The point with the lowest latency and few enough processes; ties: the higher throughput, then the first.
const PerformancePoint* quickest(std::span<const PerformancePoint> points, const UsableRule& rule) {
  const PerformancePoint* best = nullptr;
  const auto is_quicker = [](const PerformancePoint& a, const PerformancePoint& b) {
    if (a.latency_ms != b.latency_ms) return a.latency_ms < b.latency_ms;
    return a.requests_per_second > b.requests_per_second;
  };
  for (const PerformancePoint& point : points) {
    if (point.processes > rule.processes_max) continue;
    if (best == nullptr || is_quicker(point, *best)) best = &point;
  }
  return best;
}

}  // namespace

std::vector<PerformancePoint> points_on(const PerformanceTable& table, const GpuModel& model, ProfileId profile) {
  if (profile.is_full() && !model.has_full) return {};
  std::vector<PerformancePoint> rows = rows_of(table, model.name, profile_name(model, profile));
  if (!rows.empty() || !profile.is_full()) return rows;
  const MigProfile* largest = largest_profile(model);
  return largest == nullptr ? rows : rows_of(table, model.name, largest->name);
}

UsableRule usable_rule(const ServiceSpec& service) {
  return {.limit_ms = service.batching.slo_factor * service.target_ms, .processes_max = service.batching.processes_max};
}

bool is_usable(const PerformancePoint& point, const UsableRule& rule) {
  return point.processes <= rule.processes_max && point.latency_ms < rule.limit_ms;
}

const PerformancePoint* best_usable(std::span<const PerformancePoint> points, const UsableRule& rule) {
  const PerformancePoint* best = nullptr;
  for (const PerformancePoint& point : points) {
    if (is_usable(point, rule) && (best == nullptr || is_better(point, *best))) best = &point;
  }
  return best;
}

std::optional<OperatingPoint> choose_point(const ServiceSpec& service, const GpuModel& model, ProfileId profile,
                                           int variant) {
  const PerformanceTable* table = table_of(service, variant);
  if (table == nullptr || !service.tier.allows(model.name)) return std::nullopt;
  const std::vector<PerformancePoint> points = points_on(*table, model, profile);
  const UsableRule rule = usable_rule(service);
  const PerformancePoint* best = best_usable(points, rule);
  if (best == nullptr && variant == 0 && is_slow_place(service, points)) best = quickest(points, rule);
  if (best == nullptr) return std::nullopt;
  return point_from(points, *best, variant);
}

std::optional<OperatingPoint> point_for(const ServiceSpec& service, const GpuModel& model, ProfileId profile,
                                        const std::optional<PointChoice>& choice) {
  if (!choice) return choose_point(service, model, profile);
  const PerformanceTable* table = table_of(service, choice->variant);
  if (table == nullptr || !service.tier.allows(model.name)) return std::nullopt;
  const std::vector<PerformancePoint> points = points_on(*table, model, profile);
  for (const PerformancePoint& point : points) {
    if (point.batch == choice->batch && point.processes == choice->processes) {
      return point_from(points, point, choice->variant);
    }
  }
  return std::nullopt;
}

std::vector<std::int64_t> latencies_us(const OperatingPoint& point, const Decimal& factor) {
  std::vector<std::int64_t> latencies;
  latencies.reserve(point.latency_ms_by_batch.size());
  for (const Decimal& latency_ms : point.latency_ms_by_batch) {
    latencies.push_back(micros_from_millis(latency_ms * factor).count());
  }
  return latencies;
}

}  // namespace berth::profile
