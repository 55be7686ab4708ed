/// How long steps take: percentiles of the latest ones, by nearest rank.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "domain/values/metric.h"

namespace berth::edges {

struct StepTimes {
  std::uint64_t count = 0;  ///< of all steps
  double p50_ms = 0;        ///< of the latest StepMeter::kKept
  double p99_ms = 0;
  double max_ms = 0;  ///< of all steps
};

class StepMeter {
 public:
  static constexpr std::size_t kKept = 10'000;

  void add(double ms) {
    if (latest_.size() < kKept) {
      latest_.push_back(ms);
    } else {
      latest_[count_ % kKept] = ms;
    }
    ++count_;
    max_ms_ = std::max(max_ms_, ms);
    constexpr double kMsPerSecond = 1000;
    observe(histogram_, ms / kMsPerSecond);
  }

  /// Of all steps, in seconds.
  [[nodiscard]] const MetricHistogram& histogram() const { return histogram_; }
  /// O(kKept).
  [[nodiscard]] StepTimes times() const {
    StepTimes times{.count = count_, .max_ms = max_ms_};
    if (latest_.empty()) return times;
    std::vector<double> sorted = latest_;
    const auto rank = [&](double share) {
      const auto nearest = static_cast<std::size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)));
      std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(nearest), sorted.end());
      return sorted[nearest];
    };
    times.p50_ms = rank(0.5);
    times.p99_ms = rank(0.99);
    return times;
  }

 private:
  std::vector<double> latest_;
  MetricHistogram histogram_ = empty_times();
  std::uint64_t count_ = 0;
  double max_ms_ = 0;
};

}  // namespace berth::edges
