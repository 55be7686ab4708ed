/// The rows of a service's table that an engine may see: those that are known, and predictions of the others.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/values/performance.h"
#include "tier/enforce/forest_speeds.h"

namespace berth::tier {

/// The compute throughput of a profile ("1g.10gb", "full") of a GPU model in TFLOPS, > 0; nothing where it is unknown.
using ComputeOf = std::function<std::optional<double>(const std::string& gpu, const std::string& profile)>;

/// By the figures of tier/hardware: the GPU's TFLOPS times the slice's share of its compute.
[[nodiscard]] ComputeOf hardware_compute();

/// How unknown rows are predicted.
struct RowPrediction {
  double sure = 0.9;  ///< the quantile, above 0, below 1: the rows are at least as fast with this probability
  const ComputeOf& compute_of;
  /// Where it names a slice, it is used in place of the ratio of TFLOPS; nullptr: none.
  const ForestSpeeds* forest = nullptr;
};

struct SeenRows {
  PerformanceTable table;                 ///< sorted as every table
  std::vector<std::string> predicted_on;  ///< the models with predicted rows, ascending
};

/// The rows on the models of `known_on` (full names, ascending), and for each other row of the table one with the same
/// GPU, profile, batch and processes whose figures are predicted. Of the rows that are not known only those four are
/// read.
///
/// Model: the logarithm of the speed-up of a slice over a known one is b ln r + e, where r is their ratio of TFLOPS, e
/// is normal with deviation kModelSpread, and b, how much of more throughput the service uses, is normal with mean kUse
/// and deviation kUseSpread. Each further known GPU model observes b (with deviation kModelSpread / |ln r|), by its
/// largest slice against the known slice with the least TFLOPS, over the former's batches; predictions use the
/// posterior.
///
/// The known slice is the one with the nearest TFLOPS (ties: the first in the table); its latency at a batch is linear
/// between its rows, that of the smallest below, and in proportion above the largest; at more processes than it was
/// measured with, in proportion to these. Latency = latency there / speed-up at the quantile, in whole nanoseconds;
/// requests per second = processes x batch / latency. Where no known slice or no TFLOPS are known the row is left out.
/// O(rows^2).
[[nodiscard]] SeenRows seen_rows(const PerformanceTable& all, std::span<const std::string> known_on,
                                 const RowPrediction& prediction);

inline constexpr double kUse = 0.8;
inline constexpr double kUseSpread = 0.2;
inline constexpr double kModelSpread = 0.15;

/// The quantile of the standard normal distribution. Requires: 0 < probability < 1.
[[nodiscard]] double normal_quantile(double probability);

}  // namespace berth::tier
