/// Means and covariances of channels, from one batch of a value after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/core/result.h"
#include "domain/values/tensor.h"
#include "models/prune/channel_groups.h"
#include "models/prune/channel_statistics.h"

namespace berth::models {

/// A value is seen as samples x (outer, channel, inner, trailing): samples are all dimensions before the axis of the
/// channels, trailing ones those after it. Spreads are around the mean of all that one weight meets: of each element
/// of the axis, over the trailing ones, as a Conv has the same weights everywhere. Two passes: all batches through
/// add_mean, then all through add_spread.
class ChannelMoments {
 public:
  ChannelMoments(ChannelAxis at, std::int64_t channels) : at_(at), channels_(channels) {}

  /// Error: no floats, or the shape differs from the first one's from the axis on.
  [[nodiscard]] Result<void> add_mean(const Tensor& value);
  /// Of at most a bounded number of samples, spread evenly. Requires: what add_mean took before.
  void add_spread(const Tensor& value);

  /// Of each element from the axis on.
  [[nodiscard]] std::vector<double> means() const;
  [[nodiscard]] ChannelSpread spread();
  /// The dimensions from the axis on.
  [[nodiscard]] const std::vector<std::int64_t>& dims() const { return dims_; }

 private:
  void begin_spread();
  /// Adds the products of the vectors in `pending_`, the channels less their means.
  void add_pending();
  [[nodiscard]] std::size_t trailing() const;

  ChannelAxis at_;
  std::int64_t channels_;
  std::vector<std::int64_t> dims_ = {};
  std::vector<double> sums_ = {};
  std::uint64_t samples_ = 0;
  std::vector<double> centres_ = {};  ///< what add_spread subtracts from each element
  ChannelSpread spread_ = {};
  std::uint64_t vectors_seen_ = 0;
  std::uint64_t vectors_ = 0;
  std::vector<double> pending_ = {};  ///< kPendingMax vectors of channels, one after another
  std::size_t pending_count_ = 0;
};

/// What each element of a filter meets on average: `means` is of the input (channel x picture), and `dims` its channels
/// and the size of the picture. For a Conv, over all places of the filter, with 0 outside; else the means themselves.
[[nodiscard]] std::vector<double> filter_inputs(const Node& node, const Dims& weight_dims,
                                                const std::vector<double>& means,
                                                const std::vector<std::int64_t>& dims);

}  // namespace berth::models
