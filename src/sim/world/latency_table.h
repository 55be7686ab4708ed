/// The latencies of an operating point for the simulator: whole microseconds by batch size and factor in force.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/core/decimal.h"
#include "domain/profile/operating_point.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/serving_modes.h"

namespace berth::sim {

/// The factor on latency when `busy_count` services run on one shared GPU: the count with time slices; with MPS the
/// measured 1, 1.86, 2.74, 3.64 at 1, 3, 5, 7, linear between and beyond (docs/reference/policies.md).
[[nodiscard]] Decimal sharing_factor(Sharing sharing, int busy_count);

/// The times of batches by size, index n - 1, in microseconds.
struct BatchLatencies {
  const std::int64_t* by_table = nullptr;
  const std::int64_t* expected = nullptr;  ///< the table's x the speed factor in force: what early drops count on
};

struct LatencyTable {
  profile::OperatingPoint point;
  std::string profile;  ///< that of the rows: SpeedPlace::profile
  /// [factor index][n - 1]: microseconds of a batch of n. Factor index: other busy slices of the GPU, or on a shared
  /// slice other busy services of the slice; the last one applies to higher counts.
  std::vector<std::vector<std::int64_t>> latency_us;
  std::vector<std::vector<std::int64_t>> expected_us;  ///< the same x the speed factor in force; empty: it is 1

  [[nodiscard]] BatchLatencies with_others(int others) const {
    const std::size_t index = std::min(static_cast<std::size_t>(others), latency_us.size() - 1);
    const std::int64_t* by_table = latency_us[index].data();
    return {.by_table = by_table, .expected = expected_us.empty() ? by_table : expected_us[index].data()};
  }
};

/// Millionths that an answer at the table's point is worth. A variant that the spec had when the replica began, and no
/// longer has, counts as the service itself.
[[nodiscard]] std::int64_t accuracy_micro(const ServiceSpec& service, const LatencyTable& table, bool is_stale);

/// Creates tables and keeps them for the run: replicas of one service on equal slices share one.
class LatencyTables {
 public:
  LatencyTables(const Scenario& scenario, Sharing sharing) : scenario_(scenario), sharing_(sharing) {}

  /// The table of a service on a slice held by `holder_count` services; nothing if the service cannot run on that slice
  /// or has no such point there.
  [[nodiscard]] std::shared_ptr<const LatencyTable> find(ServiceId service, const Slice& slice,
                                                         std::size_t holder_count,
                                                         const std::optional<PointChoice>& choice);

  /// To be called when the service has another spec, or other speed factors.
  void forget(ServiceId service);

 private:
  using Key = std::tuple<std::uint32_t, std::string, std::uint16_t, std::size_t, int, int, int>;

  [[nodiscard]] std::vector<Decimal> factors(std::size_t holder_count) const;
  [[nodiscard]] std::optional<profile::OperatingPoint> point_of(ServiceId service, const GpuModel& model,
                                                                ProfileId profile,
                                                                const std::optional<PointChoice>& choice) const;

  const Scenario& scenario_;
  Sharing sharing_;
  std::map<Key, std::shared_ptr<const LatencyTable>> tables_;
};

}  // namespace berth::sim
