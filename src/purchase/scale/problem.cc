#include "purchase/scale/problem.h"

#include <algorithm>
#include <array>

#include "base/core/ensure.h"

namespace berth::scale {
namespace {

constexpr std::int64_t kBillion = 1'000'000'000;
constexpr std::int64_t kServedMax = kBillion * kBillion;
constexpr std::int64_t kSecondsPerHour = 3'600;
constexpr std::int64_t kInitialSeconds = 600;

std::int64_t ceiling(const Decimal& value) { return -(Decimal(0) - value).floor(); }

}  // namespace

Result<ReplicaRate> ReplicaRate::of(const Decimal& requests_per_second) {
  const bool is_in_range = requests_per_second >= Decimal(1, 1'000) && requests_per_second <= Decimal(kBillion);
  if (!is_in_range || !(requests_per_second * Decimal(kBillion)).is_integer()) {
    return invalid("wanted requests per second of a replica from 0.001 to 1000000000 with at most 9 decimals, found " +
                   requests_per_second.to_string());
  }
  const auto parts = Decimal::to_common_integers(std::array{requests_per_second, Decimal(1)});
  ENSURE(parts.has_value());
  return ReplicaRate(static_cast<std::int64_t>((*parts)[0]), static_cast<std::int64_t>((*parts)[1]));
}

std::int64_t ReplicaRate::served_by(std::int64_t replicas) const {
  ENSURE(0 <= replicas && replicas <= kReplicasMax);
  const Int128 served = Int128{numerator_} * replicas / denominator_;
  return static_cast<std::int64_t>(std::min(served, Int128{kServedMax}));
}

std::int64_t ReplicaRate::replicas_for(std::int64_t requests) const {
  ENSURE(0 <= requests);
  // floor(rate x n) >= requests, an integer, if and only if rate x n >= requests.
  return static_cast<std::int64_t>((Int128{requests} * denominator_ + numerator_ - 1) / numerator_);
}

std::int64_t Load::sum(std::int64_t from, std::int64_t to) const {
  std::int64_t total = 0;
  for (std::int64_t second = from; second < to; ++second) total += at(second);
  return total;
}

std::int64_t Problem::in_time_needed() const { return ceiling(attainment * Decimal(requests())); }

std::int64_t initial_replicas(const Problem& problem) {
  const Load& load = problem.load;
  const bool has_history = load.from_second > 0;
  const std::int64_t seconds = std::min(kInitialSeconds, has_history ? load.from_second : load.seconds());
  if (seconds == 0) return 0;
  const std::int64_t requests = has_history ? load.sum(-seconds, 0) : load.sum(0, seconds);
  // ceil(1.2 x requests / seconds / rate), in whole numbers.
  const Int128 dividend = Int128{6} * requests * problem.rate.denominator();
  const Int128 divisor = Int128{5} * seconds * problem.rate.numerator();
  return static_cast<std::int64_t>((dividend + divisor - 1) / divisor);
}

std::int64_t bound_replica_seconds(const Problem& problem) {
  const Decimal rate = Decimal(problem.rate.numerator(), problem.rate.denominator());
  return ceiling(problem.attainment * Decimal(problem.requests()) / rate);
}

std::int64_t micro_usd_of(std::int64_t replica_seconds, std::int64_t micro_usd_per_replica_hour) {
  const Decimal total = Decimal(replica_seconds) * Decimal(micro_usd_per_replica_hour);
  return (total / Decimal(kSecondsPerHour)).round_half_even();
}

}  // namespace berth::scale
