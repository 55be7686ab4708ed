/// Figures for monitoring systems, as values: families of samples, independent of any format.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace berth {

enum class MetricKind : std::uint8_t {
  kCounter,    ///< only grows while the process runs; its name ends in "_total"
  kGauge,      ///< goes up and down
  kHistogram,  ///< counts of observations by size
};

/// Observations by size, in the unit of the family.
struct MetricHistogram {
  std::vector<double> bounds;         ///< upper bounds, inclusive, ascending, finite
  std::vector<std::uint64_t> counts;  ///< observations of each bucket, not summed up: bounds.size() + 1, the last above
  double sum = 0;                     ///< of all observations

  friend bool operator==(const MetricHistogram&, const MetricHistogram&) = default;
};

/// Without observations. Requires: the bounds ascend.
[[nodiscard]] MetricHistogram empty_histogram(std::vector<double> bounds);
/// Adds an observation. Requires: the histogram was made by empty_histogram. O(log bounds).
void observe(MetricHistogram& histogram, double value);
/// Of times of the process, in seconds: from half a millisecond to a minute.
[[nodiscard]] MetricHistogram empty_times();

struct MetricSample {
  /// Name and value, in the order in which they are shown; each name once, UTF-8.
  std::vector<std::pair<std::string, std::string>> labels = {};
  /// A MetricHistogram in families of histograms, a finite number in others.
  std::variant<double, MetricHistogram> value = 0.0;

  friend bool operator==(const MetricSample&, const MetricSample&) = default;
};

struct MetricFamily {
  std::string name;  ///< whole, with its prefix: [a-zA-Z_][a-zA-Z0-9_]*
  std::string help;  ///< one sentence, without a line feed
  MetricKind kind = MetricKind::kGauge;
  /// Each set of labels once. What is unknown has no sample.
  std::vector<MetricSample> samples = {};

  friend bool operator==(const MetricFamily&, const MetricFamily&) = default;
};

}  // namespace berth
