#include "models/prune/detail/filter_weights.h"

#include <algorithm>

#include "base/core/ensure.h"
#include "models/prune/detail/channel_axis.h"

namespace berth::models {

FilterWeights::FilterWeights(const Constant& weight, const ChannelAxis& at, std::int64_t channels)
    : dims_(weight.dims), values_(to_floats(weight)) {
  ENSURE(at.axis < dims_.size() && dims_[at.axis] == width_of(at, channels));
  for (std::size_t i = 0; i < at.axis; ++i) before_ *= static_cast<std::size_t>(dims_[i]);
  for (std::size_t i = at.axis + 1; i < dims_.size(); ++i) after_ *= static_cast<std::size_t>(dims_[i]);
  outer_ = static_cast<std::size_t>(at.outer);
  channels_ = static_cast<std::size_t>(channels);
  inner_ = static_cast<std::size_t>(at.inner);
  block_ = inner_ * after_;
}

std::vector<double> FilterWeights::products() const {
  std::vector<double> sums(channels_ * channels_, 0.0);
  // One column of all channels at a time: the innermost loop then has no sum that waits for the one before.
  std::vector<double> column(channels_);
  for (std::size_t b = 0; b < before_ * outer_; ++b) {
    for (std::size_t i = 0; i < block_; ++i) {
      for (std::size_t c = 0; c < channels_; ++c) {
        column[c] = static_cast<double>(values_[(b * channels_ + c) * block_ + i]);
      }
      for (std::size_t c = 0; c < channels_; ++c) {
        double* const row = sums.data() + c * channels_;
        for (std::size_t d = 0; d <= c; ++d) row[d] += column[c] * column[d];
      }
    }
  }
  for (std::size_t c = 0; c < channels_; ++c) {
    for (std::size_t d = 0; d < c; ++d) sums[d * channels_ + c] = sums[c * channels_ + d];
  }
  return sums;
}

std::vector<double> FilterWeights::squares() const {
  std::vector<double> sums(channels_, 0.0);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const auto weight = static_cast<double>(values_[i]);
    sums[i / block_ % channels_] += weight * weight;
  }
  return sums;
}

void FilterWeights::fold(const std::vector<bool>& kept, const std::vector<double>& shares) {
  std::vector<std::size_t> stays;
  for (std::size_t c = 0; c < channels_; ++c) {
    if (kept[c]) stays.push_back(c);
  }
  if (std::ranges::all_of(shares, [](double share) { return share == 0; })) stays.clear();
  for (std::size_t b = 0; b < before_; ++b) {
    for (std::size_t o = 0; o < outer_; ++o) {
      std::size_t gone = 0;
      for (std::size_t r = 0; r < channels_; ++r) {
        if (kept[r]) continue;
        float* const from = values_.data() + offset(b, o, r);
        for (std::size_t k = 0; k < stays.size(); ++k) {
          const auto share = static_cast<float>(shares[gone * stays.size() + k]);
          if (share == 0) continue;
          float* const to = values_.data() + offset(b, o, stays[k]);
          for (std::size_t i = 0; i < block_; ++i) to[i] += share * from[i];
        }
        for (std::size_t i = 0; i < block_; ++i) from[i] = 0;
        ++gone;
      }
    }
  }
}

std::vector<double> FilterWeights::outputs(std::span<const double> inputs, bool is_filter) const {
  const std::size_t columns = is_filter ? 1 : after_;
  const std::size_t taps = is_filter ? after_ : 1;
  const std::size_t width = outer_ * channels_ * inner_;
  ENSURE(inputs.size() == width * taps);
  std::vector<double> sums(before_ * columns, 0.0);
  for (std::size_t b = 0; b < before_; ++b) {
    for (std::size_t w = 0; w < width; ++w) {
      for (std::size_t i = 0; i < after_; ++i) {
        const double weight = static_cast<double>(values_[(b * width + w) * after_ + i]);
        const std::size_t output = is_filter ? b : b * after_ + i;
        sums[output] += weight * inputs[is_filter ? w * taps + i : w];
      }
    }
  }
  return sums;
}

Constant FilterWeights::constant() const { return *floats(dims_, values_); }

}  // namespace berth::models
