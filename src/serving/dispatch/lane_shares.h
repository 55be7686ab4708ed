/// Weighted shares of lane time between tenants, which come before deadlines where lanes are short.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "serving/dispatch/arrival_rate.h"
#include "serving/dispatch/request.h"
#include "serving/dispatch/terms.h"

namespace berth::serving {

/// Shares are max-min fair (Bertsekas and Gallager, Data Networks, 6.5): each tenant gets what it asks for, up to
/// `level` x its weight, where the level is the highest with which the lanes do it all. Times are means over the last
/// second.
class LaneShares {
 public:
  explicit LaneShares(const std::vector<TenantTerms>& tenants);

  /// Lane time that a batch takes, divided among its tenants by rows.
  void learn_start(std::span<const Request> requests, Micros lane_time, Instant now);
  void learn_in_time() { missed_ -= missed_ * kMissMemory; }
  /// A request was rejected, dropped or late, and would have taken so much lane time.
  void learn_miss(TenantIndex tenant, Micros lane_time, Instant now);

  /// Whether more is asked for than the lanes can do: requests are missed. A single tenant has nobody to share with.
  [[nodiscard]] bool is_short() const { return missed_ > kMissedMax && tenants_.size() > 1; }
  /// Computes the level; to be called before `is_within_share`, when time has passed. O(tenants x log tenants).
  void update_level(Instant now);
  [[nodiscard]] bool is_within_share(TenantIndex tenant) const {
    return tenants_[static_cast<std::size_t>(tenant)].is_within_share;
  }

 private:
  struct Tenant {
    double weight = 1;
    ArrivalRate used;    ///< seconds of lane time
    ArrivalRate missed;  ///< seconds of lane time that missed requests would have taken
    bool is_within_share = true;
  };

  static constexpr double kMissMemory = 1.0 / 500;  ///< one over the number of requests that it remembers
  static constexpr double kMissedMax = 0.02;

  std::vector<Tenant> tenants_;
  double missed_ = 0;  ///< share of the recent requests that were not answered in time
};

}  // namespace berth::serving
