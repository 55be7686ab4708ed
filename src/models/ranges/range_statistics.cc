#include "models/ranges/range_statistics.h"

#include <algorithm>
#include <cmath>

namespace berth::models {
namespace {

constexpr int kHalf = static_cast<int>(RangeStatistics::kBinCount / 2);

/// Of the least power of two above a magnitude.
int exponent_above(float magnitude) {
  int exponent = 0;
  static_cast<void>(std::frexp(magnitude, &exponent));  // magnitude = fraction * 2^exponent, 0.5 <= fraction < 1
  return exponent;
}

}  // namespace

double RangeStatistics::bin_width() const { return std::ldexp(1.0, exponent_) / kHalf; }

void RangeStatistics::grow_to(int exponent) {
  if (counts_.empty()) {
    counts_.assign(kBinCount, 0);
    exponent_ = exponent;
    return;
  }
  for (; exponent_ < exponent; ++exponent_) {
    std::vector<std::uint64_t> wider(kBinCount, 0);
    for (std::size_t i = 0; i < kBinCount; ++i) wider[kBinCount / 4 + i / 2] += counts_[i];
    counts_ = std::move(wider);
  }
}

void RangeStatistics::add(std::span<const float> values) {
  double limit = counts_.empty() ? 0 : std::ldexp(1.0, exponent_);
  double bins_per_unit = 1 / bin_width();
  for (const float value : values) {
    if (!std::isfinite(value)) {
      ++not_finite_count_;
      continue;
    }
    min_ = finite_count_ == 0 ? value : std::min(min_, value);
    max_ = finite_count_ == 0 ? value : std::max(max_, value);
    ++finite_count_;
    energy_ += static_cast<double>(value) * value;
    if (value == 0) {
      ++zero_count_;
      continue;
    }
    if (std::abs(value) >= limit) {
      grow_to(exponent_above(std::abs(value)));
      limit = std::ldexp(1.0, exponent_);
      bins_per_unit = 1 / bin_width();
    }
    // Exact: the factor is a power of two.
    ++counts_[static_cast<std::size_t>(static_cast<int>(std::floor(value * bins_per_unit)) + kHalf)];
  }
}

void RangeStatistics::merge(const RangeStatistics& other) {
  if (other.finite_count_ > 0) {
    min_ = finite_count_ == 0 ? other.min_ : std::min(min_, other.min_);
    max_ = finite_count_ == 0 ? other.max_ : std::max(max_, other.max_);
  }
  finite_count_ += other.finite_count_;
  zero_count_ += other.zero_count_;
  not_finite_count_ += other.not_finite_count_;
  energy_ += other.energy_;
  if (other.counts_.empty()) return;
  RangeStatistics aligned = other;
  aligned.grow_to(counts_.empty() ? other.exponent_ : std::max(exponent_, other.exponent_));
  grow_to(aligned.exponent_);
  for (std::size_t i = 0; i < kBinCount; ++i) counts_[i] += aligned.counts_[i];
}

std::vector<RangeStatistics::Bin> RangeStatistics::bins() const {
  std::vector<Bin> filled;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const double low = (static_cast<double>(i) - kHalf) * bin_width();
    filled.push_back({.low = low, .width = bin_width(), .count = counts_[i]});
  }
  return filled;
}

}  // namespace berth::models
