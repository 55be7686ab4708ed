/// Where and when spot instances are available, and the job to run on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::purchase {

/// Spot availability over time: of one zone, or of several that form one market.
struct Market {
  std::vector<std::string> series;  ///< the name of each zone; at least one
  std::string window;
  bool is_joined = false;  ///< its zones are separately recorded windows
  std::int64_t tick_seconds = 0;
  std::vector<std::vector<bool>> is_available;  ///< by zone, then by tick; nothing is available after its end

  [[nodiscard]] std::size_t zone_count() const { return is_available.size(); }
  [[nodiscard]] bool has(std::size_t zone, std::int64_t tick) const {
    const std::vector<bool>& ticks = is_available[zone];
    return static_cast<std::size_t>(tick) < ticks.size() && ticks[static_cast<std::size_t>(tick)];
  }
};

/// A job on one instance: `task_seconds` of work until `deadline_seconds`. A change of instance takes
/// `restart_seconds`. Requires: all positive but the restart, which may be 0; task + restart <= deadline.
struct SpotJob {
  std::int64_t task_seconds = 0;
  std::int64_t deadline_seconds = 0;
  std::int64_t restart_seconds = 0;

  friend bool operator==(const SpotJob&, const SpotJob&) = default;
};

/// Prices per hour of the same instance.
struct SpotPrices {
  std::int64_t on_demand_micro_usd = 0;
  std::int64_t spot_micro_usd = 0;
};

}  // namespace berth::purchase
