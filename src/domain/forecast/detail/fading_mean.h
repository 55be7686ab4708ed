/// Means in which old observations fade.
#pragma once

#include <algorithm>

namespace berth::forecast::detail {

/// The mean of the observations, where each fades by the same factor with each new one: a plain mean at first,
/// later a mean over about the last kObservations.
template <int kObservations>
class FadingMean {
 public:
  void learn(double value) {
    sum_ = sum_ * kFade + value;
    weight_ = weight_ * kFade + 1;
  }
  [[nodiscard]] double weight() const { return weight_; }
  /// Keeps the mean, but with a weight of at most that many observations.
  void doubt(double weight_max) {
    const double kept = weight_ > weight_max ? weight_max / weight_ : 1;
    sum_ *= kept;
    weight_ *= kept;
  }
  /// With a prior that has the weight of `prior_weight` observations. Requires: that or weight() is positive.
  [[nodiscard]] double with_prior(double prior, double prior_weight) const {
    return (sum_ + prior * prior_weight) / (weight_ + prior_weight);
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.sum_, self.weight_);
  }

 private:
  static constexpr double kFade = 1 - 1.0 / kObservations;
  double sum_ = 0;
  double weight_ = 0;
};

/// The slope of y on x through 0, close to a prior until there is evidence; fades likewise.
template <int kObservations>
class FadingSlope {
 public:
  void learn(double x, double y) {
    xy_ = xy_ * kFade + x * y;
    xx_ = xx_ * kFade + x * x;
  }
  /// `prior_xx`: the weight of the prior in squared x, > 0.
  [[nodiscard]] double with_prior(double prior, double prior_xx) const {
    return (xy_ + prior * prior_xx) / (xx_ + prior_xx);
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.xy_, self.xx_);
  }

 private:
  static constexpr double kFade = 1 - 1.0 / kObservations;
  double xy_ = 0;
  double xx_ = 0;
};

}  // namespace berth::forecast::detail
