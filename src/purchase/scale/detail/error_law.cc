#include "purchase/scale/detail/error_law.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::scale::detail {
namespace {

constexpr double kBinsPerUnit = 16;
constexpr double kZeroBin = 40;

}  // namespace

std::size_t ErrorLaw::bin_of(double error) {
  const double bin = std::floor(kZeroBin + kBinsPerUnit * std::asinh(error));
  return static_cast<std::size_t>(std::clamp(bin, 0.0, static_cast<double>(kBins - 1)));
}

double ErrorLaw::error_at(double bin) { return std::sinh((bin - kZeroBin) / kBinsPerUnit); }

std::array<double, ErrorLaw::kBins> ErrorLaw::middles() {
  std::array<double, kBins> errors{};
  for (std::size_t bin = 0; bin < kBins; ++bin) errors[bin] = error_at(static_cast<double>(bin) + 0.5);
  return errors;
}

ErrorLaw ErrorLaw::normal(double samples, double deviation) {
  ErrorLaw law;
  const auto below = [=](double error) { return 0.5 * std::erfc(-error / deviation / std::sqrt(2.0)); };
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const double low = error_at(static_cast<double>(bin));
    const double high = error_at(static_cast<double>(bin + 1));
    law.weights_[bin] = static_cast<float>(samples * (below(high) - below(low)));
  }
  law.samples_ = samples;
  return law;
}

void ErrorLaw::fade(double factor) {
  for (float& weight : weights_) weight *= static_cast<float>(factor);
  samples_ *= factor;
}

MarginValues ErrorLaw::shortfalls(const MarginValues& limits) const {
  ENSURE(samples_ > 0);
  static const std::array<double, kBins> errors = middles();
  MarginValues result{};
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const double weight = static_cast<double>(weights_[bin]) / samples_;
    for (std::size_t j = 0; j < limits.size() && errors[bin] > limits[j]; ++j) {
      result[j] += weight * (errors[bin] - limits[j]);
    }
  }
  return result;
}

double ErrorLaw::share_up_to(double error) const {
  ENSURE(samples_ > 0);
  double sum = 0;
  for (std::size_t bin = 0; bin <= bin_of(error); ++bin) sum += static_cast<double>(weights_[bin]);
  return std::min(1.0, sum / samples_);
}

MarginValues ErrorLaw::quantiles(double share, const ErrorLaw& other) const {
  ENSURE(0 <= share && share <= 1);
  const double own = samples_ > 0 ? share / samples_ : 0;
  const double others = other.samples_ > 0 ? (1 - share) / other.samples_ : 0;
  MarginValues values{};
  std::size_t level = 0;
  double below = 0;
  for (std::size_t bin = 0; bin < kBins && level < values.size(); ++bin) {
    const double weight = own * static_cast<double>(weights_[bin]) + others * static_cast<double>(other.weights_[bin]);
    for (; level < values.size() && below + weight >= kMarginLevels[level]; ++level) {
      values[level] = error_at(static_cast<double>(bin) + (kMarginLevels[level] - below) / weight);
    }
    below += weight;
  }
  // Levels that rounding leaves above the last bin.
  for (; level < values.size(); ++level) values[level] = level == 0 ? 0 : values[level - 1];
  return values;
}

}  // namespace berth::scale::detail
