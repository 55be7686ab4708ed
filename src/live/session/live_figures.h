/// The figures of a running world that /v1/status and services show: the last minute, capacity, cost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/core/decimal.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "live/session/minute.h"

namespace berth::live {

class LiveFigures {
 public:
  /// `scenario` must outlive it; where a spec in it changes, `read_spec` must be called.
  explicit LiveFigures(const Scenario& scenario) : scenario_(scenario) {}

  /// Adds the next second of a service.
  void add(ServiceId service, std::int64_t second, const ServiceFigures& figures);
  /// Reads the fleet's sums, once per second. Returns what was added since the last time; absent the first time.
  std::optional<FleetFigures> read(Instant now, const sim::SmTime& sm_time);
  /// The world has started again, and its sums with it.
  void begin(Instant now, const sim::SmTime& sm_time) { fleet_.begin({.at = now, .sm_time = sm_time}); }
  // Adds figures that an earlier process measured, before anything else is added; seconds ascend.
  void restore(ServiceId service, std::int64_t second, const ServiceFigures& figures);
  void restore(std::int64_t second, const FleetFigures& figures);
  /// The service has another spec: what was derived from its table is discarded.
  void read_spec(ServiceId service);
  /// The service is gone: its window is discarded, too.
  void forget(ServiceId service);

  /// Absent before its first second.
  [[nodiscard]] std::optional<MinuteFigures> minute_of(ServiceId service) const;
  [[nodiscard]] std::optional<FunnelShares> funnel() const;
  /// Over the requests of all services; absent without requests.
  [[nodiscard]] std::optional<double> goodput() const;

  /// Requests per second of a slice that serves the service at its point; its part where the slice is shared. 0 if the
  /// service has no such point. Results are cached.
  [[nodiscard]] double rate_on(ServiceId service, const StandingSlice& slice) const;

 private:
  struct Known {
    std::optional<ServiceMinute> minute;
    double least_sm_us = 0;  ///< of one answer, at its best point; 0: none
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

  const Scenario& scenario_;
  std::vector<Known> services_;  ///< by ServiceId
  FleetMinute fleet_;
  double effective_us_ = 0;                   ///< since the fleet's sums were read
  mutable std::map<PointKey, double> rates_;  ///< looked up before; bounded by the tables
};

/// What the fleet costs per hour, in micro-dollars, lost GPUs too; absent if an entry has no price.
[[nodiscard]] std::optional<std::int64_t> cost_micro_usd_per_hour(const Scenario& scenario);

}  // namespace berth::live
