/// Operating points: the measured point at which a service runs on a slice, and how long a batch takes there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "domain/values/gpu.h"
#include "domain/values/performance.h"
#include "domain/values/service.h"
#include "domain/values/slice.h"

namespace berth::profile {

/// A chosen point on a slice.
struct OperatingPoint {
  int variant = 0;
  int batch = 1;
  int processes = 1;
  Decimal requests_per_second;  ///< of the slice, as measured
  Decimal latency_ms;           ///< of a full batch
  /// Exact latency in ms of a batch of n at these processes: index n - 1, for n = 1 .. batch. Linear between profiled
  /// batches; below the smallest profiled batch, that batch's latency.
  std::vector<Decimal> latency_ms_by_batch;
  friend bool operator==(const OperatingPoint&, const OperatingPoint&) = default;
};

/// The rows of a table for one profile of one GPU model, in the table's order. If `full` has no rows, those of the
/// model's largest profile.
[[nodiscard]] std::vector<PerformancePoint> points_on(const PerformanceTable& table, const GpuModel& model,
                                                      ProfileId profile);

/// Which measured points may be used by default: those with latency < limit_ms, exactly, and processes <=
/// processes_max.
struct UsableRule {
  Decimal limit_ms;  ///< slo_factor x target
  int processes_max = 1;
};
/// The rule given by the batching of a service.
[[nodiscard]] UsableRule usable_rule(const ServiceSpec& service);
[[nodiscard]] bool is_usable(const PerformancePoint& point, const UsableRule& rule);

/// The usable point with the highest throughput; ties: smaller batch, then fewer processes. nullptr if none is usable.
[[nodiscard]] const PerformancePoint* best_usable(std::span<const PerformancePoint> points, const UsableRule& rule);

/// The default point of a service, or of one of its variants, on a slice: the best usable one there; of the service
/// itself where TierRule::slow_on says so, the one with the lowest latency. Nothing: the slice cannot serve it, its
/// TierRule does not allow the GPU model, or the service has no such variant.
[[nodiscard]] std::optional<OperatingPoint> choose_point(const ServiceSpec& service, const GpuModel& model,
                                                         ProfileId profile, int variant = 0);

/// The point that a plan names, if the table has it there and the TierRule allows the GPU model; the default point if
/// the plan names none.
[[nodiscard]] std::optional<OperatingPoint> point_for(const ServiceSpec& service, const GpuModel& model,
                                                      ProfileId profile, const std::optional<PointChoice>& choice);

/// Latencies in microseconds by batch size (index n - 1), each exact latency x factor rounded half up.
[[nodiscard]] std::vector<std::int64_t> latencies_us(const OperatingPoint& point, const Decimal& factor);

}  // namespace berth::profile
