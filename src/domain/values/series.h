/// Figures of a running world over spans of its time: those of its services and its fleet in a second, and sums of
/// seconds. They are kept so that observers can see the past, and figures continue after a restart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/values/latency_buckets.h"

namespace berth {

/// Settled requests that arrived in one second.
struct SettledRequests {
  std::int64_t second = 0;  ///< in which they arrived
  std::int64_t in_time = 0;
  std::int64_t late = 0;
  std::int64_t dropped = 0;
  std::int64_t accuracy_sum_micro = 0;  ///< of the answers in time, in millionths
  friend bool operator==(const SettledRequests&, const SettledRequests&) = default;
};

/// The number that means all services together; no service has it.
inline constexpr std::uint64_t kAllServices = 0;

/// The figures of one service in a span. Requests count when they arrive, answers when they are given: in a span they
/// need not belong to the same requests.
struct ServiceFigures {
  std::uint64_t service = kAllServices;  ///< its number: no other service of this world ever has it
  std::int64_t seconds = 1;              ///< of the span, those with data
  std::int64_t requests = 0;             ///< arrived
  std::int64_t in_time = 0;              ///< answered within the latency target
  std::int64_t late = 0;                 ///< answered after it
  std::int64_t dropped = 0;              ///< discarded without an answer
  std::int64_t accuracy_sum_micro = 0;   ///< of the answers in time, in millionths
  std::int64_t queued_max = 0;           ///< the most requests that waited at the end of a second
  LatencyBuckets latencies = {};         ///< of all answers; none for kAllServices
  /// Begun. Absent: unknown, as where a world serves by rates, and in figures that were stored.
  std::optional<std::int64_t> batches = std::nullopt;
  /// For a single second: the arrival times of the requests that it settled. Sums have none.
  std::vector<SettledRequests> settled = {};

  friend bool operator==(const ServiceFigures&, const ServiceFigures&) = default;
};

/// Adds another span of the same service.
void add_figures(ServiceFigures& sum, const ServiceFigures& more);

/// The figures of the fleet in a span: SM-time in SM-microseconds (GLOSSARY.md: allocated, busy, effective).
struct FleetFigures {
  std::int64_t covered_us = 0;  ///< measured time of the span
  double available_us = 0;      ///< SM-time of all GPUs in it, lost ones too
  double allocated_us = 0;
  double busy_us = 0;
  double effective_us = 0;         ///< of all answers given, at the best point of their services
  std::int64_t lost_gpus_max = 0;  ///< the most GPUs that were lost at the end of a second
  std::optional<std::int64_t> micro_usd_per_hour = std::nullopt;  ///< latest cost of all GPUs; absent without prices
  friend bool operator==(const FleetFigures&, const FleetFigures&) = default;
};

/// Adds the figures of a later span: times are summed, the cost is that of `more`.
void add_figures(FleetFigures& sum, const FleetFigures& more);

/// The service that a number refers to.
struct SeriesName {
  std::uint64_t service = 0;
  std::string tenant;
  std::string name;
  friend bool operator==(const SeriesName&, const SeriesName&) = default;
};

/// All data of a span.
struct SeriesSpan {
  std::int64_t second = 0;                    ///< of the world, with which it begins
  std::vector<ServiceFigures> services = {};  ///< by number, each once
  std::optional<FleetFigures> fleet = std::nullopt;
  std::vector<SeriesName> names = {};  ///< of some of the services
  friend bool operator==(const SeriesSpan&, const SeriesSpan&) = default;
};

/// The sum over all services of the span; nothing if it has none.
[[nodiscard]] std::optional<ServiceFigures> total_of(const SeriesSpan& span);

}  // namespace berth
