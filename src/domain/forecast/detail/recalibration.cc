#include "domain/forecast/detail/recalibration.h"

#include "base/core/ensure.h"

namespace berth::forecast::detail {
namespace {

/// Memory is never shorter than this many judgements.
constexpr double kFirstMemory = 20;
/// Weights are rescaled to 1 before they lose digits.
constexpr double kWeightMax = 1e9;
/// A level is never moved further out than this many standard deviations.
constexpr double kNormalMax = 4.5;

constexpr std::array<double, kBinCount + 1> kEdges = [] {
  std::array<double, kBinCount + 1> edges{};
  for (std::size_t bin = 0; bin < kBinCount; ++bin) {
    const std::size_t level = bin / kBinsBetweenLevels;
    const double low = level == 0 ? 0 : kGridLevels[level - 1];
    const double high = level == kGridLevels.size() ? 1 : kGridLevels[level];
    const double part = static_cast<double>(bin % kBinsBetweenLevels) / kBinsBetweenLevels;
    edges[bin] = low + (high - low) * part;
  }
  edges[kBinCount] = 1;
  return edges;
}();

/// The normal quantile of a level, linear between the grid's; beyond them by the tail's slope.
double normal_of(double level) {
  const double x = std::clamp(level, 1e-6, 1 - 1e-6);
  // Abramowitz and Stegun 26.2.23: off by less than 4.5e-4.
  const double tail = std::sqrt(-2 * std::log(std::min(x, 1 - x)));
  const double z = tail - (2.515517 + tail * (0.802853 + tail * 0.010328)) /
                              (1 + tail * (1.432788 + tail * (0.189269 + tail * 0.001308)));
  return std::clamp(x < 0.5 ? -z : z, -kNormalMax, kNormalMax);
}

}  // namespace

Recalibration::Recalibration(double memory, double prior_weight) : memory_(memory) {
  ENSURE(memory >= 1 && prior_weight > 0);
  for (std::size_t i = 0; i < kBinCount; ++i) mass_[i] = prior_weight * (kEdges[i + 1] - kEdges[i]);
  total_ = prior_weight;
  place_levels();
}

void Recalibration::learn(const Spread& spread, double count) {
  const double low = share_below(spread, count);
  const double high = std::max(share_below(spread, count + 1), low + 1e-9);
  for (std::size_t i = 0; i < kBinCount; ++i) {
    const double common = std::min(high, kEdges[i + 1]) - std::max(low, kEdges[i]);
    if (common > 0) mass_[i] += weight_ * common / (high - low);
  }
  // An interval beyond the end still counts as a whole.
  if (low >= 1) mass_.back() += weight_;
  if (high <= 1e-9) mass_.front() += weight_;
  total_ += weight_;
  learned_ = std::min(learned_ + 1, memory_);
  weight_ *= 1 + 1 / (learned_ + kFirstMemory);
  if (weight_ > kWeightMax) {
    for (double& mass : mass_) mass /= weight_;
    total_ /= weight_;
    weight_ = 1;
  }
  place_levels();
}

void Recalibration::place_levels() {
  double below = 0;
  std::size_t bin = 0;
  for (std::size_t i = 0; i < kGridLevels.size(); ++i) {
    const double wanted = kGridLevels[i] * total_;
    while (bin + 1 < kBinCount && below + mass_[bin] < wanted) below += mass_[bin++];
    const double part = mass_[bin] > 0 ? std::clamp((wanted - below) / mass_[bin], 0.0, 1.0) : 0.5;
    const double normal = normal_of(kEdges[bin] + part * (kEdges[bin + 1] - kEdges[bin]));
    std::size_t above = 1;
    while (above + 1 < kGridNormals.size() && kGridNormals[above] < normal) ++above;
    positions_[i] = {.above = above,
                     .part = (normal - kGridNormals[above - 1]) / (kGridNormals[above] - kGridNormals[above - 1])};
  }
}

Spread Recalibration::applied_to(const Spread& spread) const {
  Spread moved{};
  double least = 0;
  for (std::size_t i = 0; i < spread.size(); ++i) {
    const LevelPosition& position = positions_[i];
    const double low = spread[position.above - 1];
    least = std::max(least, low + position.part * (spread[position.above] - low));
    moved[i] = least;
  }
  return moved;
}

}  // namespace berth::forecast::detail
