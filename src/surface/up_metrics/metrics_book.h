/// Counts what a session reports while this process runs: the figures of its services and its fleet, second by second,
/// and usage that is over. All functions are to be called under the session's lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/core/instant.h"
#include "base/core/int128.h"
#include "domain/values/metric.h"
#include "domain/values/scenario.h"
#include "domain/values/series.h"
#include "live/session/catalog.h"
#include "live/session/usage_book.h"
#include "surface/up_metrics/series_budget.h"

namespace berth::live {
class Session;
}

namespace berth::metrics {

/// The upper bounds of latencies, in seconds.
inline constexpr std::array kLatencyBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                              0.25,  0.5,    1.0,   2.5,  5.0,   10.0};

/// The series that a service and a tenant take. A service: its requests, three outcomes, accuracy, batches, queue,
/// capacity, objective, why it waits, forecasts judged and inside of two bands; and its latencies.
inline constexpr std::size_t kServiceSeries = 13 + kLatencyBounds.size() + 3;
/// A tenant: the cost of inference and of retraining.
inline constexpr std::size_t kTenantSeries = 2;

/// The counters of a service, or of all that have no series of their own.
struct ServiceTotals {
  std::int64_t requests = 0;
  std::int64_t in_time = 0;
  std::int64_t late = 0;
  std::int64_t dropped = 0;
  std::int64_t accuracy_sum_micro = 0;
  std::int64_t batches = 0;
  bool knows_batches = false;  ///< of its latest second; of several: of one of them
  std::int64_t queued = 0;     ///< at the end of its latest second
  std::int64_t second = -1;    ///< that second; -1: none was measured
  std::array<std::int64_t, kLatencyBounds.size() + 1> latencies{};  ///< answers by bucket
  double latency_sum = 0;                                           ///< in seconds

  [[nodiscard]] MetricHistogram histogram() const;
};

/// By live::UsageState.
using GpuSeconds = std::array<double, 5>;

class MetricsBook {
 public:
  /// `fleet` is borrowed; of `budget` listed services and tenants take series.
  MetricsBook(const Scenario& fleet, SeriesBudget budget);

  /// From now on counts. Until then seconds and usage are ignored.
  void begin(const live::Session& session);
  /// The services of the session get their sides, in the order in which they were set.
  void admit(const live::Session& session);
  /// A second of the world.
  void add(const SeriesSpan& span);
  /// Usage that is over.
  void add(const live::UsageInterval& usage);

  struct Listed {
    live::ServiceName name;
    ServiceTotals totals;
  };
  /// The services with series of their own, in the order in which they came. They stay when they are gone.
  [[nodiscard]] const std::vector<Listed>& listed() const { return listed_; }
  /// The place of a service in `listed`; absent: it has no series of its own.
  [[nodiscard]] std::optional<std::size_t> place_of(const live::ServiceName& name) const;
  [[nodiscard]] const std::set<std::string, std::less<>>& tenants() const { return tenants_.keys(); }
  /// The sum of the services without series of their own; absent: there was none.
  [[nodiscard]] const std::optional<ServiceTotals>& rest() const { return rest_; }
  /// Of all seconds.
  [[nodiscard]] const FleetFigures& fleet() const { return fleet_sum_; }
  /// The use of GPUs from `begin` to a second of the world, with what is open. O(GPUs and their parts).
  [[nodiscard]] GpuSeconds gpu_seconds(const live::UsageBook& open, std::int64_t until_second);
  /// Whether the speed factor of a listed service has a series of its own.
  [[nodiscard]] bool admit_factor(const live::ServiceName& name, const std::string& model, const std::string& profile) {
    return factors_.admit({name.tenant, name.name, model, profile}, budget_, 1);
  }

 private:
  struct Known {
    std::optional<std::size_t> place;  ///< in `listed_`
    std::int64_t seen_second = 0;
  };
  /// Usage that ended in a second that no scrape may show yet.
  struct Ended {
    live::UsageState state = live::UsageState::kFree;
    Instant from;
    Instant to;
    std::int64_t weight = 0;
  };
  /// By live::UsageState: microseconds times weight. Whole numbers, so that no counter ever shrinks by rounding.
  using WeightedTimes = std::array<Int128, std::tuple_size_v<GpuSeconds>>;

  void admit(const live::ServiceName& name);
  void read_names(const SeriesSpan& span);
  void add_to(ServiceTotals& totals, const ServiceFigures& figures, std::int64_t second, bool is_sum);
  void settle(Instant until);
  /// The share of its GPU in a common denominator.
  [[nodiscard]] std::int64_t weight_of(const GpuModel& model, const live::UsagePart& part) const;

  const Scenario& fleet_;
  SeriesBudget budget_;
  std::optional<Instant> began_;
  std::vector<Listed> listed_;
  std::map<live::ServiceName, std::size_t> places_;  ///< in `listed_`
  ListedKeys<std::string> tenants_;
  ListedKeys<std::array<std::string, 4>> factors_;
  std::optional<ServiceTotals> rest_;
  std::unordered_map<std::uint64_t, Known> known_;  ///< by the number of the service
  FleetFigures fleet_sum_;
  std::vector<Ended> ended_;
  WeightedTimes settled_{};
  std::int64_t gpu_weight_ = 1;              ///< of a whole GPU: a multiple of the units of each model
  std::vector<std::uint8_t> bucket_places_;  ///< by LatencyBucket::bucket: its place among the bounds
};

}  // namespace berth::metrics
