/// The problem of an autoscaler: the load, the rate of a replica, how long a request may wait and a start takes.
#pragma once

#include <cstdint>
#include <span>

#include "base/core/decimal.h"
#include "base/core/result.h"

namespace berth::scale {

/// More replicas than this are never wanted: with the shortest and longest limits of a trace, sums of replica-seconds
/// fit 64 bits.
inline constexpr std::int64_t kReplicasMax = 100'000'000'000;

/// The requests that one replica serves per second, as a fraction in lowest terms. From 0.001 to 1,000,000,000, with at
/// most 9 decimals, so that all products with counts of a trace fit 127 bits.
class ReplicaRate {
 public:
  /// One request per second.
  ReplicaRate() = default;
  /// The error gives the allowed range and the value found.
  [[nodiscard]] static Result<ReplicaRate> of(const Decimal& requests_per_second);

  [[nodiscard]] std::int64_t numerator() const { return numerator_; }
  [[nodiscard]] std::int64_t denominator() const { return denominator_; }
  /// floor(rate x replicas), the requests that this many ready replicas serve in a second. Requires: 0 <= replicas <=
  /// kReplicasMax. Capped at 10^18.
  [[nodiscard]] std::int64_t served_by(std::int64_t replicas) const;
  /// The smallest number of replicas with served_by(number) >= requests. Requires: 0 <= requests <= 10^9.
  [[nodiscard]] std::int64_t replicas_for(std::int64_t requests) const;

  friend bool operator==(const ReplicaRate&, const ReplicaRate&) = default;

 private:
  ReplicaRate(std::int64_t numerator, std::int64_t denominator) : numerator_(numerator), denominator_(denominator) {}

  std::int64_t numerator_ = 1;
  std::int64_t denominator_ = 1;
};

/// The arrivals of each second, from the first known one to the last of the run.
struct Load {
  std::span<const std::uint32_t> counts;
  std::int64_t from_second = 0;  ///< where the run begins; earlier seconds are its history

  /// The length of the run.
  [[nodiscard]] std::int64_t seconds() const { return static_cast<std::int64_t>(counts.size()) - from_second; }
  /// The arrivals of a second of the run, or of its history where that is negative.
  [[nodiscard]] std::int64_t at(std::int64_t second) const {
    return counts[static_cast<std::size_t>(from_second + second)];
  }
  /// The arrivals of the seconds [from, to).
  [[nodiscard]] std::int64_t sum(std::int64_t from, std::int64_t to) const;
};

/// A run to be served. Requires: 0 <= load.from_second <= load.counts.size(), counts within the limits of
/// domain/values/arrivals.h; wait and start of 0 to 10^9 seconds; 0 <= attainment <= 1.
struct Problem {
  Load load;
  ReplicaRate rate;
  std::int64_t wait_seconds = 0;   ///< a request is in time if served within this many seconds after its own
  std::int64_t start_seconds = 0;  ///< from the decision to start a replica until it is ready
  Decimal attainment;              ///< the required share of requests in time

  /// The requests of the whole run.
  [[nodiscard]] std::int64_t requests() const { return load.sum(0, load.seconds()); }
  /// The fewest requests in time with which the attainment is reached: ceil(attainment x requests).
  [[nodiscard]] std::int64_t in_time_needed() const;
};

/// The replicas that are ready when the run begins: enough for 1.2 x the mean load of the 600 seconds before it, or of
/// as many as are known; without any history, of the run's first 600 seconds.
[[nodiscard]] std::int64_t initial_replicas(const Problem& problem);

/// No policy reaches the attainment with fewer replica-seconds than ceil(attainment x requests / rate).
[[nodiscard]] std::int64_t bound_replica_seconds(const Problem& problem);

/// The cost of replica-seconds at a price per replica-hour, in micro-dollars: rounded once, half to even.
[[nodiscard]] std::int64_t micro_usd_of(std::int64_t replica_seconds, std::int64_t micro_usd_per_replica_hour);

}  // namespace berth::scale
