#include "models/profiling/point_figures.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "models/compare/beta.h"

namespace berth::models {
namespace {

constexpr double kTail = 0.025;
/// Neighbours that are more alike than this leave nothing to count.
constexpr double kCorrelationMax = 0.9;
constexpr double kMedianShare = 0.5;
constexpr double kLateShare = 0.99;

struct TurnSum {
  double count = 0;
  double sum_us = 0;
};

std::vector<TurnSum> sums_of(std::span<const TurnTimes> turns) {
  std::vector<TurnSum> sums;
  for (const TurnTimes& turn : turns) {
    TurnSum& sum = sums.emplace_back();
    for (const ProcessTimes& process : turn.processes) {
      sum.count += static_cast<double>(process.count);
      sum.sum_us += process.sum_us;
    }
  }
  return sums;
}

/// Of first order, at least 0, without the bias of few observations (Kendall, A Note on Bias in the Estimation of
/// Autocorrelation, 1954).
double correlation_of(std::span<const double> residuals) {
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    squares += residuals[i] * residuals[i];
    if (i > 0) products += residuals[i] * residuals[i - 1];
  }
  if (squares <= 0) return 0;
  const double estimate = products / squares;
  const double unbiased = estimate + (1 + 4 * estimate) / static_cast<double>(residuals.size());
  return std::clamp(unbiased, 0.0, kCorrelationMax);
}

/// A time, and the number of batches that it stands for.
using Weighted = std::pair<double, std::int64_t>;

std::vector<Weighted> samples_of(std::span<const TurnTimes> turns) {
  std::vector<Weighted> samples;
  for (const TurnTimes& turn : turns) {
    for (const ProcessTimes& process : turn.processes) {
      for (const double time : process.sample_us) samples.emplace_back(time, process.stride);
    }
  }
  std::ranges::sort(samples);
  return samples;
}

double percentile(std::span<const Weighted> sorted, double share) {
  double all = 0;
  for (const auto& [time, weight] : sorted) all += static_cast<double>(weight);
  double below = 0;
  for (const auto& [time, weight] : sorted) {
    below += static_cast<double>(weight);
    if (below >= share * all) return time;
  }
  return sorted.back().first;
}

/// Rows of all processes over the time that they took on average.
double rows_per_second(std::span<const TurnTimes> turns, int batch) {
  constexpr double kMicrosPerSecond = 1e6;
  double batches = 0;
  double elapsed_us = 0;
  for (const TurnTimes& turn : turns) {
    double all_us = 0;
    for (const ProcessTimes& process : turn.processes) {
      batches += static_cast<double>(process.count);
      all_us += process.elapsed_us;
    }
    elapsed_us += all_us / static_cast<double>(turn.processes.size());
  }
  return elapsed_us > 0 ? batches * batch * kMicrosPerSecond / elapsed_us : 0;
}

}  // namespace

double MeanInterval::relative_width() const {
  return mean > 0 ? (high - mean) / mean : std::numeric_limits<double>::infinity();
}

MeanInterval mean_interval(std::span<const TurnTimes> turns) {
  ENSURE(!turns.empty());
  const std::vector<TurnSum> sums = sums_of(turns);
  TurnSum all;
  for (const TurnSum& sum : sums) {
    all.count += sum.count;
    all.sum_us += sum.sum_us;
  }
  ENSURE(all.count > 0);
  const double mean = all.sum_us / all.count;
  const auto turn_count = static_cast<double>(sums.size());
  if (sums.size() < 2) return {.mean = mean, .low = 0, .high = std::numeric_limits<double>::infinity()};
  std::vector<double> residuals;
  double squares = 0;
  for (const TurnSum& sum : sums) {
    residuals.push_back(sum.sum_us - mean * sum.count);
    squares += residuals.back() * residuals.back();
  }
  const double correlation = correlation_of(residuals);
  const double inflation = (1 + correlation) / (1 - correlation);
  const double variance = squares * turn_count / (turn_count - 1) / (all.count * all.count) * inflation;
  const double freedom = std::max(turn_count / inflation - 1, 1.0);
  const double half = student_quantile(freedom, kTail) * std::sqrt(variance);
  return {.mean = mean, .low = std::max(mean - half, 0.0), .high = mean + half};
}

ProfilePoint point_figures(std::span<const TurnTimes> turns, int batch) {
  const MeanInterval interval = mean_interval(turns);
  const std::vector<Weighted> samples = samples_of(turns);
  ENSURE(!samples.empty());
  ProfilePoint point{.batch = batch,
                     .rows_per_second = rows_per_second(turns, batch),
                     .mean_us = interval.mean,
                     .mean_us_low = interval.low,
                     .mean_us_high = interval.high,
                     .p50_us = percentile(samples, kMedianShare),
                     .p99_us = percentile(samples, kLateShare)};
  for (const TurnTimes& turn : turns) {
    for (const ProcessTimes& process : turn.processes) point.batches += process.count;
  }
  return point;
}

}  // namespace berth::models
