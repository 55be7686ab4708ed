#include "serving/dispatch/lane_shares.h"

#include <algorithm>

namespace berth::serving {
namespace {

constexpr Micros kShareMemory = Micros::seconds(1);

struct Ask {
  double weight = 1;
  double seconds = 0;  ///< of lane time
};

/// The highest level with which `seconds` of lane time do what all ask for, each up to its weight x the level.
double fair_level(std::vector<Ask> asks, double seconds) {
  double weights = 0;
  for (const Ask& ask : asks) weights += ask.weight;
  std::ranges::sort(asks, {}, [](const Ask& ask) { return ask.seconds / ask.weight; });
  for (const Ask& ask : asks) {
    const double level = seconds / weights;
    if (ask.seconds > level * ask.weight) return level;
    seconds -= ask.seconds;
    weights -= ask.weight;
  }
  return asks.back().seconds / asks.back().weight;  // everyone gets what it asks for
}

}  // namespace

LaneShares::LaneShares(const std::vector<TenantTerms>& tenants) {
  tenants_.reserve(tenants.size());
  for (const TenantTerms& tenant : tenants) {
    tenants_.push_back({.weight = static_cast<double>(tenant.weight),
                        .used = ArrivalRate(kShareMemory),
                        .missed = ArrivalRate(kShareMemory)});
  }
}

void LaneShares::learn_start(std::span<const Request> requests, Micros lane_time, Instant now) {
  RowCount rows = 0;
  for (const Request& request : requests) rows += request.rows;
  for (const Request& request : requests) {
    tenants_[static_cast<std::size_t>(request.tenant)].used.add(now, lane_time.to_seconds() * request.rows / rows);
  }
}

void LaneShares::learn_miss(TenantIndex tenant, Micros lane_time, Instant now) {
  missed_ += (1 - missed_) * kMissMemory;
  tenants_[static_cast<std::size_t>(tenant)].missed.add(now, lane_time.to_seconds());
}

void LaneShares::update_level(Instant now) {
  std::vector<Ask> asks;
  asks.reserve(tenants_.size());
  double used = 0;
  for (const Tenant& tenant : tenants_) {
    const double own = tenant.used.per_second(now);
    used += own;
    asks.push_back({.weight = tenant.weight, .seconds = own + tenant.missed.per_second(now)});
  }
  const double level = fair_level(std::move(asks), used);
  for (Tenant& tenant : tenants_) {
    tenant.is_within_share = tenant.used.per_second(now) <= level * tenant.weight;
  }
}

}  // namespace berth::serving
