/// What a scrape reads from a session, under one hold of its lock: values that own what they hold, so that families are
/// made of them afterwards, while the engine continues.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/shared_list.h"
#include "domain/values/scenario.h"
#include "domain/values/series.h"
#include "domain/values/snapshot.h"
#include "live/session/forecast_book.h"
#include "live/session/plan_counts.h"
#include "live/session/promise_book.h"
#include "live/session/service_watch.h"
#include "live/session/usage_book.h"
#include "surface/up_metrics/metrics_book.h"

namespace berth::metrics {

inline constexpr std::size_t kSliceStates = 8;

/// Slices of one profile of an entry of the fleet, by live::SliceState.
using SliceCounts = std::array<std::int64_t, kSliceStates>;

/// A recorded factor of the times in a service's table.
struct PlaceFactor {
  std::string model;
  std::string profile;
  double factor = 1;
};

/// What was learned about a service.
struct Calibration {
  std::vector<PlaceFactor> factors = {};  ///< by model and profile
  std::optional<live::ForecastSums> forecasts = std::nullopt;
};

/// What the session has learned. The factors are those that are recorded, and its forecasts absent before the first one
/// is judged.
[[nodiscard]] Calibration calibration_of(const live::Session& session, ServiceId service);

/// A service with series of its own.
struct ListedService {
  live::ServiceName name;
  ServiceTotals totals = {};
  // Absent where the service is gone.
  std::optional<double> capacity = std::nullopt;    ///< requests per second
  std::optional<double> objective = std::nullopt;   ///< slo.attainment
  std::optional<std::string> waits = std::nullopt;  ///< why it has no slice
  Calibration calibration = {};
};

/// All services without series of their own.
struct RestOfServices {
  ServiceTotals totals = {};
  double capacity = 0;
  std::optional<live::ForecastSums> forecasts = std::nullopt;
};

struct MetricsView {
  std::int64_t world_second = 0;
  Instant now = {};
  Snapshot snapshot = {};
  live::ForeignTenants foreign = {};  ///< of its foreign slices
  SharedList<ServiceSpec> services = {};
  /// By entry of the fleet: its profiles in their order, then `full`.
  std::vector<std::vector<SliceCounts>> slices = {};
  FleetFigures sm_time = {};
  GpuSeconds gpu_seconds{};
  std::vector<ListedService> listed = {};
  std::optional<RestOfServices> rest = std::nullopt;
  std::set<std::string, std::less<>> tenants = {};  ///< those with series of their own
  std::size_t service_count = 0;                    ///< that exist
  live::PlanCounts plans = {};
  std::optional<double> plan_gap = std::nullopt;
  std::optional<Instant> planned_at = std::nullopt;
  live::PromiseSums last_day = {};
};

/// To be called under the session's lock. O(GPUs + slices + services). Requires: the book has begun.
[[nodiscard]] MetricsView read_metrics_view(const live::Session& session, MetricsBook& book);

}  // namespace berth::metrics
