#include "planner/goodput_bound/detail/descent.h"

#include <algorithm>
#include <cmath>

namespace berth::bound::detail {
namespace {

/// In units of Dual::price_scales.
constexpr double kFirstStep = 0.3;
constexpr double kLastStep = 0.002;
constexpr double kMeanDecay = 0.9;
constexpr double kSquareDecay = 0.99;
/// Delays start in the middle, where they already smooth out changes faster than a slice can start, and move once
/// prices have settled.
constexpr double kFirstDelay = 0.5;
constexpr double kDelaysMoveFrom = 0.4;  ///< of the steps
constexpr double kDelayStep = 0.07;      ///< of a price's step

/// Steps of one row of variables, none below 0.
class Stepper {
 public:
  explicit Stepper(std::size_t size) : mean_(size), square_(size) {}

  struct Scale {
    double step = 0;
    double of_mean = 1;  ///< corrects for means that start at 0
    double of_square = 1;
  };

  void move(std::vector<double>& at, const std::vector<double>& slope, const Scale& scale) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      mean_[i] = kMeanDecay * mean_[i] + (1 - kMeanDecay) * slope[i];
      square_[i] = kSquareDecay * square_[i] + (1 - kSquareDecay) * slope[i] * slope[i];
      if (square_[i] <= 0) continue;
      const double direction = mean_[i] * scale.of_mean / std::sqrt(square_[i] * scale.of_square);
      at[i] = std::max(0.0, at[i] - scale.step * direction);
    }
  }

 private:
  std::vector<double> mean_;
  std::vector<double> square_;
};

void set_delays(Delays& delays, double share) {
  for (auto& kinds : delays) {
    for (auto& yields : kinds) {
      for (std::vector<double>& row : yields) std::ranges::fill(row, share);
    }
  }
}

/// Moves each delay by the same step, along its descent direction.
void move_delays(Delays& delays, const Delays& slope, double step) {
  for (std::size_t group = 0; group < delays.size(); ++group) {
    for (std::size_t kind = 0; kind < delays[group].size(); ++kind) {
      for (std::size_t yield = 0; yield < delays[group][kind].size(); ++yield) {
        std::vector<double>& row = delays[group][kind][yield];
        const std::vector<double>& by = slope[group][kind][yield];
        for (std::size_t b = 0; b < row.size(); ++b) {
          if (by[b] != 0) row[b] = std::clamp(row[b] - std::copysign(step, by[b]), 0.0, 1.0);
        }
      }
    }
  }
}

}  // namespace

std::optional<double> least_value(Dual& dual, int steps, const std::function<bool(int step)>& goes_on) {
  DualPoint at = dual.origin();
  DualPoint slope = at;
  set_delays(at.delays, kFirstDelay);
  std::vector<Stepper> steppers;
  steppers.reserve(at.prices.size());
  for (const std::vector<double>& row : at.prices) steppers.emplace_back(row.size());
  const std::vector<double> scales = dual.price_scales();
  double least = dual.value(at, slope);
  const double shrink = std::pow(kLastStep / kFirstStep, 1.0 / std::max(1, steps));
  Stepper::Scale scale{.step = kFirstStep};
  double mean_rest = 1;
  double square_rest = 1;
  for (int step = 0; step < steps; ++step) {
    if (!goes_on(step)) return std::nullopt;
    mean_rest *= kMeanDecay;
    square_rest *= kSquareDecay;
    scale.of_mean = 1 / (1 - mean_rest);
    scale.of_square = 1 / (1 - square_rest);
    for (std::size_t good = 0; good < at.prices.size(); ++good) {
      Stepper::Scale own = scale;
      own.step *= scales[good];
      steppers[good].move(at.prices[good], slope.prices[good], own);
    }
    if (step >= kDelaysMoveFrom * steps) move_delays(at.delays, slope.delays, kDelayStep * scale.step);
    scale.step *= shrink;
    least = std::min(least, dual.value(at, slope));
  }
  return least;
}

}  // namespace berth::bound::detail
