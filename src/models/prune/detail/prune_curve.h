/// What a group costs and saves by the number of channels it keeps.
#pragma once

#include <cstdint>
#include <vector>

#include "models/prune/channel_order.h"
#include "models/prune/choose_channels.h"

namespace berth::models {

/// Between and at the trials of one group.
class PruneCurve {
 public:
  /// `trials`: most channels first, at least one. `order`: of all channels.
  PruneCurve(std::int64_t channels, std::vector<GroupTrial> trials, const std::vector<ChannelStep>& order);

  /// The least number of channels that was tried.
  [[nodiscard]] std::int64_t kept_min() const { return points_.back().kept; }
  /// Relative to the model with all channels; fewer channels never take longer.
  [[nodiscard]] double time_ratio(std::int64_t kept) const;
  /// At least 0; fewer channels never make less.
  [[nodiscard]] double damage(std::int64_t kept) const;

 private:
  struct Point {
    std::int64_t kept;
    double time_ratio;
    double factor;  ///< of the damage measured to the error estimated
  };

  [[nodiscard]] double estimate(std::int64_t kept) const;

  std::int64_t channels_;
  std::vector<double> errors_ = {};  ///< by the number of channels removed
  std::vector<Point> points_ = {};
};

}  // namespace berth::models
