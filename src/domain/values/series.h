/// Figures of a running world over spans of its time: what a second brought its services and its fleet, and sums of
/// seconds. They are kept so that somebody who watches sees the past, and that figures go on after a restart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/values/latency_buckets.h"

namespace berth {

/// Requests of one second of arrival that were settled.
struct SettledRequests {
  std::int64_t second = 0;  ///< in which they arrived
  std::int64_t in_time = 0;
  std::int64_t late = 0;
  std::int64_t dropped = 0;
  std::int64_t accuracy_sum_micro = 0;  ///< of the answers in time, in millionths
  friend bool operator==(const SettledRequests&, const SettledRequests&) = default;
};

/// The number that stands for all services together; no service has it.
inline constexpr std::uint64_t kAllServices = 0;

/// What a span brought one service. Requests count when they arrive, answers when they are given: of a span, they need
/// not be about the same requests.
struct ServiceFigures {
  std::uint64_t service = kAllServices;  ///< its number: no other service of this world ever has it
  std::int64_t seconds = 1;              ///< of the span, those of which something is known
  std::int64_t requests = 0;             ///< arrived
  std::int64_t in_time = 0;              ///< answered within the latency target
  std::int64_t late = 0;                 ///< answered after it
  std::int64_t dropped = 0;              ///< discarded without an answer
  std::int64_t accuracy_sum_micro = 0;   ///< of the answers in time, in millionths
  std::int64_t queued_max = 0;           ///< requests that waited at the end of a second, the most of them
  LatencyBuckets latencies = {};         ///< of all answers; none for kAllServices
  /// Of a single second: when the requests had arrived that it settled. Sums have none.
  std::vector<SettledRequests> settled = {};

  friend bool operator==(const ServiceFigures&, const ServiceFigures&) = default;
};

/// Adds another span of the same service.
void add_figures(ServiceFigures& sum, const ServiceFigures& more);

/// What a span brought the fleet: SM-time in SM-microseconds (GLOSSARY.md: allocated, busy, effective).
struct FleetFigures {
  std::int64_t covered_us = 0;  ///< of the span, time that was measured
  double available_us = 0;      ///< SM-time of all GPUs in it, lost ones too
  double allocated_us = 0;
  double busy_us = 0;
  double effective_us = 0;         ///< of all answers given, at the best point of their services
  std::int64_t lost_gpus_max = 0;  ///< GPUs that were lost at the end of a second, the most of them
  std::optional<std::int64_t> micro_usd_per_hour = std::nullopt;  ///< cost of all GPUs at last; absent without prices
  friend bool operator==(const FleetFigures&, const FleetFigures&) = default;
};

void add_figures(FleetFigures& sum, const FleetFigures& more);

/// Which service a number is.
struct SeriesName {
  std::uint64_t service = 0;
  std::string tenant;
  std::string name;
  friend bool operator==(const SeriesName&, const SeriesName&) = default;
};

/// All that is known of a span.
struct SeriesSpan {
  std::int64_t second = 0;                    ///< of the world, with which it begins
  std::vector<ServiceFigures> services = {};  ///< by number, each once
  std::optional<FleetFigures> fleet = std::nullopt;
  std::vector<SeriesName> names = {};  ///< of some of its services
  friend bool operator==(const SeriesSpan&, const SeriesSpan&) = default;
};

/// All services of the span together; nothing where it has none.
[[nodiscard]] std::optional<ServiceFigures> total_of(const SeriesSpan& span);

}  // namespace berth
