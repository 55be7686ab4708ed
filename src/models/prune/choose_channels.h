/// How many channels of each group can go.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "models/graph/graph.h"
#include "models/probing/trials.h"
#include "models/prune/channel_groups.h"
#include "models/prune/channel_order.h"
#include "models/prune/channel_statistics.h"
#include "models/prune/remove_channels.h"

namespace berth::models {

struct PruneOptions {
  double loss_max = 0.01;          ///< of the rows that choose, as Trials::loss gives it
  std::int64_t multiple = 8;       ///< the number of channels kept is a multiple of it
  std::int64_t channels_min = 16;  ///< groups with fewer stay whole
  Compensation compensation = Compensation::kReconstruct;
};

/// One group pruned alone.
struct GroupTrial {
  std::int64_t kept = 0;
  double noise = 0;  ///< of the first float output, relative to the signal: 10^(-SQNR / 10)
  double loss = 0;
  double time_ratio = 1;  ///< to the model with all channels

  friend bool operator==(const GroupTrial&, const GroupTrial&) = default;
};

struct GroupOutcome {
  std::string name;
  std::int64_t channels = 0;
  std::int64_t kept = 0;
  std::vector<GroupTrial> trials = {};                 ///< most channels first
  std::optional<std::string> left_out = std::nullopt;  ///< why it was not pruned, or not tried
};

struct PruneOutcome {
  Model model;  ///< the original, where nothing goes
  std::vector<GroupOutcome> groups;
  std::vector<ChannelMask> masks;
  double loss = 0;          ///< of the rows that choose
  bool is_complete = true;  ///< false: time ran out before all was tried
};

/// Finds how many channels of each group stay, so that the loss is at most `loss_max`.
///
/// Each group is tried alone with about 50, then 75 and 25 % of its channels: noise of the output, loss and time. That
/// gives a path of steps that each take a few channels of one group, the most time saved per damage (noise + loss)
/// first; the longest beginning of it within `loss_max` is found by bisection, then extended by single steps until
/// each group has had one refused. No group goes below the least number that it was tried with. Between trials, time
/// is interpolated linearly, and damage follows the error of channel_order. So a model with n groups takes 3 n trials
/// and about 2 log2(8 n) + n losses. Deterministic given the answers of `trials`. What is found on the choosing rows
/// lies near the bound: on other rows the loss may be above it.
///
/// A group whose trial the engine refuses is left out, with the engine's message. Errors: kInterrupted, kUnavailable.
/// Requires: `statistics` of all groups that are not left out.
[[nodiscard]] Result<PruneOutcome> choose_channels(const Model& model, std::span<const ChannelGroup> groups,
                                                   const ChannelStatistics& statistics, const Trials& trials,
                                                   const PruneOptions& options);

}  // namespace berth::models
