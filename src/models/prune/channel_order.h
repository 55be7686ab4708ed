/// In which order channels of a group are removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/graph/graph.h"
#include "models/prune/channel_groups.h"
#include "models/prune/channel_statistics.h"

namespace berth::models {

/// How the weights that stay make up for channels that go.
enum class Compensation : std::uint8_t {
  kMean,         ///< the mean of what is removed goes into the bias of each consumer
  kReconstruct,  ///< and each removed channel is replaced by the linear combination of the kept ones nearest to it
};

struct ChannelStep {
  std::size_t channel = 0;
  /// Estimate of the mean squared error of the consumers' outputs once this and all channels before it are gone, of
  /// each consumed value relative to the variance that its channels give to the outputs; summed over values.
  double error = 0;

  friend bool operator==(const ChannelStep&, const ChannelStep&) = default;
};

/// All channels, the one that matters least first.
///
/// Removing channel r with its mean compensated changes a consumer's output by W_r (x_r - mean), so the error is the
/// variance of the activation times the squared norm of the consuming weights; the norm of the producing filter, often
/// used as the score (Li et al. 2017, arXiv:1608.08710), knows neither what the activation function makes of it nor
/// what the consumer does with it. With reconstruction the variance is that of what the kept channels do not predict,
/// as in Optimal Brain Surgeon (Hassibi and Stork 1992; by structures: Kurtic et al. 2023, arXiv:2302.04089); channels
/// are removed one at a time and the weights brought up to date in between. Elements of a filter count as independent.
/// O(channels^3). Requires: statistics of the group; it is not left out.
[[nodiscard]] std::vector<ChannelStep> channel_order(const Graph& graph, const ChannelGroup& group,
                                                     const ChannelStatistics& statistics, Compensation compensation);

/// For each removed channel (row) how much of each kept one (column) stands in for it; both in ascending order.
[[nodiscard]] std::vector<double> stand_ins(const ChannelSpread& spread, const std::vector<bool>& kept);

}  // namespace berth::models
