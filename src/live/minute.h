/// Figures of the last minute of a running world: of each service, and of the fleet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "sim/service_meter.h"
#include "sim/world.h"

namespace berth::live {

/// Seconds of a window.
inline constexpr std::size_t kMinuteSeconds = 60;

/// What a service received and answered in the latest seconds, at most 60 of them.
struct MinuteFigures {
  std::int64_t seconds = 0;   ///< in the window
  std::int64_t requests = 0;  ///< arrived
  std::int64_t in_time = 0;
  std::int64_t late = 0;
  std::int64_t dropped = 0;
  std::int64_t accuracy_sum_micro = 0;  ///< of the answers in time, in millionths
  std::optional<double> latency_p50_ms = std::nullopt;
  std::optional<double> latency_p99_ms = std::nullopt;

  /// What goodput divides by: the requests, or those that were settled where these are more, as a queue from before the
  /// window is worked off. So goodput is at most 1, and 0 where requests come and nothing is answered.
  [[nodiscard]] std::int64_t judged() const;
  /// Sum of the accuracies of the answers in time / judged(); absent without requests.
  [[nodiscard]] std::optional<double> goodput() const;
  friend bool operator==(const MinuteFigures&, const MinuteFigures&) = default;
};

/// The window of one service. Latencies are counted in buckets: percentiles by nearest rank, within 0.4 %. Memory: what
/// differs among the latencies of a minute, and 10 KiB.
class ServiceMinute {
 public:
  void add(const sim::MeasuredSecond& second);
  /// Absent before the first second. O(buckets).
  [[nodiscard]] std::optional<MinuteFigures> figures() const;

 private:
  struct BucketCount {
    std::uint32_t bucket = 0;
    std::int64_t count = 0;
  };
  struct Second {
    MinuteFigures counts;
    std::vector<BucketCount> latencies;
  };
  void count(const Second& second, int sign);
  [[nodiscard]] std::optional<double> percentile_ms(int percent) const;

  std::deque<Second> seconds_;
  MinuteFigures sum_;
  std::vector<std::int64_t> buckets_;
  std::int64_t latency_count_ = 0;
};

/// SM-time, each as a share of the fleet's (GLOSSARY.md: allocated, busy, effective).
struct FunnelShares {
  double allocated = 0;
  double busy = 0;
  double effective = 0;
};

/// The window of the fleet: readings of sums that grow, one per second.
class FleetMinute {
 public:
  struct Reading {
    Instant at;
    sim::SmTime sm_time;
    double effective_us = 0;  ///< of all answers given, SM-microseconds at the best point of their services
  };
  /// Requires: later than the last one.
  void add(const Reading& reading);
  /// Absent before two readings, or without SMs. `fleet_sms`: of all GPUs.
  [[nodiscard]] std::optional<FunnelShares> shares(std::int64_t fleet_sms) const;

 private:
  std::deque<Reading> readings_;
};

}  // namespace berth::live
