/// The weights of a consumer, channel by channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/graph/constant.h"
#include "models/prune/channel_groups.h"

namespace berth::models {

/// Seen as [before][outer][channel][inner][after] around the axis of the channels. Outputs are `before` x `after` for a
/// matrix, and `before` alone for filters, whose elements are `after`. Requires: floats, `channels` at the axis.
class FilterWeights {
 public:
  FilterWeights(const Constant& weight, const ChannelAxis& at, std::int64_t channels);

  /// channels x channels: sums over all else of the products of the weights of two channels.
  [[nodiscard]] std::vector<double> products() const;
  /// One per channel: the sum of the squares of its weights.
  [[nodiscard]] std::vector<double> squares() const;
  /// Adds to the weights of kept channels what stands in for those removed, and clears the latter. `shares`: as
  /// stand_ins.
  void fold(const std::vector<bool>& kept, const std::vector<double>& shares);
  /// The sum of weight x input for each output. `inputs`: one for each element of a filter.
  [[nodiscard]] std::vector<double> outputs(std::span<const double> inputs, bool is_filter) const;

  [[nodiscard]] Constant constant() const;

 private:
  [[nodiscard]] std::size_t offset(std::size_t before, std::size_t outer, std::size_t channel) const {
    return ((before * outer_ + outer) * channels_ + channel) * block_;
  }

  Dims dims_;
  std::size_t before_ = 1;
  std::size_t outer_ = 1;
  std::size_t channels_ = 1;
  std::size_t inner_ = 1;
  std::size_t after_ = 1;
  std::size_t block_ = 1;  ///< inner x after
  std::vector<float> values_;
};

}  // namespace berth::models
