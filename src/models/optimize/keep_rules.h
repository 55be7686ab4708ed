/// Which variants are better, and which of them is the best.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/optimize/findings.h"

namespace berth::models {

/// Least gains: of the geometric mean of the times (the cautious end of its interval), and of bytes.
inline constexpr double kLatencyGainMin = 0.10;
inline constexpr double kBytesGainMin = 0.30;
/// No batch may certainly take longer than this times the original's time.
inline constexpr double kBatchRatioMax = 1.05;

/// The geometric mean over the batches, with its interval: the ratios were measured independently, so the squares of
/// the half-widths of their logarithms add up. Requires: at least one.
[[nodiscard]] IntervalFigure geometric_mean(const std::vector<BatchLatency>& latency);

/// Why the variant is not kept; nothing: it is.
[[nodiscard]] std::optional<std::string> refusal(const VariantFigures& figures, const ModelFigures& original,
                                                 const OptimizeTerms& terms, Metric metric);

/// Variant / original in what the goal asks for: below 1 is better.
[[nodiscard]] double goal_ratio(const VariantFigures& figures, const ModelFigures& original, Goal goal);

/// The name of the best kept variant by the goal; of equal ones the first. Empty: none is kept.
[[nodiscard]] std::string recommendation(const std::vector<VariantRecord>& variants, const ModelFigures& original,
                                         Goal goal);

/// Such as "0.42 points", or "0.0042" for an error.
[[nodiscard]] std::string loss_text(double loss, Metric metric);

}  // namespace berth::models
