/// The distribution of prediction errors of arrivals: learned, and slowly forgotten.
#pragma once

#include <array>
#include <cstdint>

namespace berth::scale::detail {

/// The levels of the quantiles that are used as margins, ascending.
inline constexpr std::array<double, 9> kMarginLevels = {0.1, 0.3, 0.6, 0.8, 0.9, 0.96, 0.985, 0.995, 0.999};
inline constexpr std::size_t kMarginCount = kMarginLevels.size();
using MarginValues = std::array<double, kMarginCount>;

/// A histogram of errors, finer near zero: the bins are even in asinh(error).
class ErrorLaw {
 public:
  /// Without a sample.
  ErrorLaw() = default;
  /// As if `samples` samples of a normal distribution with this standard deviation had been seen.
  static ErrorLaw normal(double samples, double deviation);

  void observe(double error) {
    weights_[bin_of(error)] += 1;
    samples_ += 1;
  }
  void fade(double factor);
  [[nodiscard]] double samples() const { return samples_; }

  /// The quantiles at kMarginLevels of a mixture: this law with weight `share`, `other` with the rest. Requires: a law
  /// with a positive weight has samples.
  [[nodiscard]] MarginValues quantiles(double share, const ErrorLaw& other) const;

  /// The expected excess of an error over each limit; limits ascend. Requires: there are samples.
  [[nodiscard]] MarginValues shortfalls(const MarginValues& limits) const;

  /// The share of errors that are not above this one. Requires: there are samples.
  [[nodiscard]] double share_up_to(double error) const;

 private:
  static constexpr std::size_t kBins = 176;
  static std::size_t bin_of(double error);
  static double error_at(double bin);
  static std::array<double, kBins> middles();

  std::array<float, kBins> weights_{};
  double samples_ = 0;
};

}  // namespace berth::scale::detail
