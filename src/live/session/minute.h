/// Figures of the last minute of a running world: of each service, and of the fleet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/series.h"
#include "sim/world/sm_time.h"

namespace berth::sim {
struct MeasuredSecond;
}

namespace berth::live {

/// Seconds of a window.
inline constexpr std::size_t kMinuteSeconds = 60;
/// The longest latency target that a window waits for, in seconds.
inline constexpr std::int64_t kTargetSecondsMax = 60;

/// The outcomes of requests that arrived in the latest seconds whose latency target has passed, at most 60 seconds. A
/// request of these seconds that is not answered in time by now never will be, so in_time / requests is exact. The rest
/// still waits: in_time + late + dropped <= requests. Percentiles are of the answers given in the last 60 s.
struct MinuteFigures {
  std::int64_t seconds = 0;   ///< of arrival, in the window
  std::int64_t requests = 0;  ///< arrived in them
  std::int64_t in_time = 0;   ///< of these requests, like `late` and `dropped`
  std::int64_t late = 0;
  std::int64_t dropped = 0;
  std::int64_t accuracy_sum_micro = 0;  ///< of the answers in time, in millionths
  std::optional<double> latency_p50_ms = std::nullopt;
  std::optional<double> latency_p99_ms = std::nullopt;

  /// Sum of the accuracies of the answers in time / requests: at most 1; absent without requests.
  [[nodiscard]] std::optional<double> goodput() const;
  friend bool operator==(const MinuteFigures&, const MinuteFigures&) = default;
};

/// The figures of a second that the world measured, without the service's number.
[[nodiscard]] ServiceFigures figures_of(const sim::MeasuredSecond& measured);

/// Requests that arrived in a part of the window.
struct ArrivedPart {
  double requests = 0;
  double seconds = 0;  ///< > 0
};
/// The least c such that the sum of min(requests, c x seconds) over the parts is at least that share of all requests;
/// 0 without requests. Requires: 0 < share <= 1. O(n log n).
[[nodiscard]] double least_rate(std::vector<ArrivedPart> parts, double share);

/// The window of one service. Latencies are counted in buckets: percentiles by nearest rank, within 0.4 %. Memory: the
/// distinct latencies of a minute, and 10 KiB.
class ServiceMinute {
 public:
  /// Adds a second of the world, later than the last one. Seconds between the two are unknown, and count for nothing.
  /// `target`: the service's latency target, capped at kTargetSecondsMax.
  void add(std::int64_t second, const ServiceFigures& figures, Micros target);
  /// Absent before the first second whose latency target has passed. O(buckets + seconds).
  [[nodiscard]] std::optional<MinuteFigures> figures() const;
  /// The same without percentiles. O(seconds).
  [[nodiscard]] std::optional<MinuteFigures> counts() const;
  /// The fewest requests per second with which that share of the window's requests could have been in time (in_time.h);
  /// 0 without requests. Absent as above. O(seconds x log seconds).
  [[nodiscard]] std::optional<double> rate_for(double share) const;

 private:
  struct Arrived {
    std::int64_t requests = 0;
    SettledRequests settled;  ///< of these requests
    bool is_known = true;
  };
  /// Adds empty seconds between the last one and this one.
  void skip_to(std::int64_t second);
  void add_arrived(std::int64_t second, const ServiceFigures& figures, Micros target);
  void add_latencies(LatencyBuckets latencies);
  void count(const LatencyBuckets& latencies, int sign);
  [[nodiscard]] std::optional<double> percentile_ms(int percent) const;

  std::deque<Arrived> arrived_;  ///< consecutive seconds: the window, and the seconds of the target after it
  std::size_t target_seconds_ = 0;
  std::deque<LatencyBuckets> latencies_;  ///< of the last seconds
  std::vector<std::int64_t> buckets_;
  std::int64_t latency_count_ = 0;
};

/// SM-time, each as a share of the fleet's (GLOSSARY.md: allocated, busy, effective).
struct FunnelShares {
  double allocated = 0;
  double busy = 0;
  double effective = 0;
};

/// The window of the fleet.
class FleetMinute {
 public:
  /// The world's SM-time sums at an instant.
  struct Reading {
    Instant at;
    sim::SmTime sm_time;
  };
  /// Starts from this reading: earlier ones are of another world.
  void begin(const Reading& reading) { last_ = reading; }
  /// The increase since the last reading; absent if this is the first one, or at the same instant. `fleet_sms`: of all
  /// GPUs; `effective_us`: of the answers since then.
  [[nodiscard]] std::optional<FleetFigures> read(const Reading& reading, std::int64_t fleet_sms, double effective_us);
  /// Adds figures that end at an instant, no earlier than those before.
  void add(Instant until, const FleetFigures& figures);
  /// Absent before the first figures, or without SMs.
  [[nodiscard]] std::optional<FunnelShares> shares() const;

 private:
  struct Span {
    Instant until;
    FleetFigures figures;
  };
  std::optional<Reading> last_;
  std::deque<Span> spans_;
};

}  // namespace berth::live
