/// The figures of a running world that /v1/status and services show: the last minute, capacity, cost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "live/session/condition.h"
#include "live/session/minute.h"

namespace berth::live {

/// Whether a service kept its agreed share in time during the last minute, and since which instant it has that status.
struct InTimeSeen {
  ConditionStatus status = ConditionStatus::kUnknown;  ///< kUnknown: without requests
  std::optional<Instant> since = std::nullopt;         ///< absent: no second was measured yet
};

class LiveFigures {
 public:
  /// `scenario` must outlive it; where a spec in it changes, `read_spec` must be called.
  explicit LiveFigures(const Scenario& scenario) : scenario_(scenario) {}

  /// Adds the next second of a service.
  void add(ServiceId service, std::int64_t second, const ServiceFigures& figures);
  /// Reads the fleet's sums, once per second. Returns what was added since the last time; absent the first time.
  std::optional<FleetFigures> read(Instant now, const sim::SmTime& sm_time);
  /// The world has started again, and its sums with it.
  void begin(Instant now, const sim::SmTime& sm_time) {
    began_ = now;
    fleet_.begin({.at = now, .sm_time = sm_time});
  }
  /// When the world last started; the figures of earlier seconds are those that were restored.
  [[nodiscard]] Instant began() const { return began_; }
  // Adds figures that an earlier process measured, before anything else is added; seconds ascend.
  void restore(ServiceId service, std::int64_t second, const ServiceFigures& figures);
  void restore(std::int64_t second, const FleetFigures& figures);
  /// The service has another spec: what was derived from its table is discarded, its agreed share is the new one.
  void read_spec(ServiceId service);
  /// The service is gone: its window is discarded, too.
  void forget(ServiceId service);

  /// Absent before its first second.
  [[nodiscard]] std::optional<MinuteFigures> minute_of(ServiceId service) const;
  /// The same without percentiles, at a tenth of the cost.
  [[nodiscard]] std::optional<MinuteFigures> counts_of(ServiceId service) const;
  /// Follows `counts_of`: in_time / requests, compared exactly with the agreed share.
  [[nodiscard]] InTimeSeen in_time_of(ServiceId service) const;
  /// The requests per second that its last minute needed (in_time.h); absent before its first second.
  [[nodiscard]] std::optional<double> needed_rate_of(ServiceId service) const;
  [[nodiscard]] std::optional<FunnelShares> funnel() const;
  /// Over the requests of all services; absent without requests.
  [[nodiscard]] std::optional<double> goodput() const;

  /// Requests per second of a slice that serves the service at its point; its part where the slice is shared. 0 if the
  /// service has no such point. Results are cached.
  [[nodiscard]] double rate_on(ServiceId service, const StandingSlice& slice) const;
  /// Of the slice in the fleet on which it can answer most, alone, at its default point. 0 if no slice can serve it.
  /// Results are cached.
  [[nodiscard]] double largest_rate_of(ServiceId service) const;

 private:
  struct Known {
    std::optional<ServiceMinute> minute;
    double least_sm_us = 0;  ///< of one answer, at its best point; 0: none
    InTimeSeen in_time;
    Instant measured_until;  ///< the end of its latest second
  };
  struct PointKey {
    ServiceId service;
    std::string model;
    ProfileId profile;
    int variant = -1;  ///< -1: the default point
    int batch = 0;
    int processes = 0;
    friend auto operator<=>(const PointKey&, const PointKey&) = default;
  };

  [[nodiscard]] Known& known(ServiceId service);
  void add_second(ServiceId service, std::int64_t second, const ServiceFigures& figures);
  void judge(ServiceId service);

  const Scenario& scenario_;
  std::vector<Known> services_;  ///< by ServiceId
  FleetMinute fleet_;
  Instant began_;
  double effective_us_ = 0;                            ///< since the fleet's sums were read
  mutable std::map<PointKey, double> rates_;           ///< looked up before; bounded by the tables
  mutable std::map<ServiceId, double> largest_rates_;  ///< likewise
};

/// What the fleet costs per hour, in micro-dollars, lost GPUs too; absent if an entry has no price.
[[nodiscard]] std::optional<std::int64_t> cost_micro_usd_per_hour(const Scenario& scenario);

}  // namespace berth::live
