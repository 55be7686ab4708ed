#include "models/optimize/keep_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

double ratio_of_bytes(std::int64_t variant, std::int64_t original) {
  // A model whose memory is lost in the noise of a process cannot become better.
  return original > 0 ? std::max(0.0, static_cast<double>(variant)) / static_cast<double>(original) : 1;
}

std::optional<std::string> lossy_half(const VariantFigures& figures, const OptimizeTerms& terms, Metric metric) {
  for (const auto& [half, where] : {std::pair(&figures.choosing, "choose"), std::pair(&figures.judging, "judge")}) {
    if (half->loss.value <= terms.max_loss) continue;
    return fmt::format("loses {} on the rows that {}, allowed: {}", loss_text(half->loss.value, metric), where,
                       loss_text(terms.max_loss, metric));
  }
  return std::nullopt;
}

std::optional<std::string> slow_batch(const VariantFigures& figures) {
  const BatchLatency* worst = nullptr;
  for (const BatchLatency& latency : figures.latency) {
    if (latency.ratio.low <= kBatchRatioMax) continue;
    if (worst == nullptr || latency.ratio.low > worst->ratio.low) worst = &latency;
  }
  if (worst == nullptr) return std::nullopt;
  return fmt::format("batch {} takes {:.2f} x as long ({:.2f} to {:.2f}), allowed: {:.2f} x", worst->batch,
                     worst->ratio.value, worst->ratio.low, worst->ratio.high, kBatchRatioMax);
}

std::optional<std::string> missed_goal(const VariantFigures& figures, const ModelFigures& original, Goal goal) {
  if (goal == Goal::kLatency) {
    if (figures.time_ratio.high <= 1 - kLatencyGainMin) return std::nullopt;
    return fmt::format("takes {:.2f} x the time ({:.2f} to {:.2f}), wanted: surely at most {:.2f} x",
                       figures.time_ratio.value, figures.time_ratio.low, figures.time_ratio.high, 1 - kLatencyGainMin);
  }
  const double ratio = goal_ratio(figures, original, goal);
  if (ratio <= 1 - kBytesGainMin) return std::nullopt;
  return fmt::format("takes {:.2f} x the {}, wanted: at most {:.2f} x", ratio,
                     goal == Goal::kMemory ? "memory" : "bytes", 1 - kBytesGainMin);
}

}  // namespace

IntervalFigure geometric_mean(const std::vector<BatchLatency>& latency) {
  ENSURE(!latency.empty());
  double middle = 0;
  double below = 0;
  double above = 0;
  for (const BatchLatency& each : latency) {
    const double log_ratio = std::log(each.ratio.value);
    middle += log_ratio;
    below += std::pow(log_ratio - std::log(each.ratio.low), 2);
    above += std::pow(std::log(each.ratio.high) - log_ratio, 2);
  }
  const auto count = static_cast<double>(latency.size());
  middle /= count;
  return {.value = std::exp(middle),
          .low = std::exp(middle - std::sqrt(below) / count),
          .high = std::exp(middle + std::sqrt(above) / count)};
}

std::optional<std::string> refusal(const VariantFigures& figures, const ModelFigures& original,
                                   const OptimizeTerms& terms, Metric metric) {
  if (auto reason = lossy_half(figures, terms, metric)) return reason;
  if (auto reason = missed_goal(figures, original, terms.goal)) return reason;
  return slow_batch(figures);
}

double goal_ratio(const VariantFigures& figures, const ModelFigures& original, Goal goal) {
  switch (goal) {
    case Goal::kLatency:
      return figures.time_ratio.value;
    case Goal::kMemory:
      return ratio_of_bytes(figures.model.run_bytes, original.run_bytes);
    case Goal::kFile:
      return ratio_of_bytes(figures.model.file_bytes, original.file_bytes);
  }
  ENSURE(false);
}

std::string recommendation(const std::vector<VariantRecord>& variants, const ModelFigures& original, Goal goal) {
  const VariantRecord* best = nullptr;
  double best_ratio = 0;
  for (const VariantRecord& variant : variants) {
    if (!variant.is_kept) continue;
    ENSURE(variant.figures.has_value());
    const double ratio = goal_ratio(*variant.figures, original, goal);
    if (best != nullptr && ratio >= best_ratio) continue;
    best = &variant;
    best_ratio = ratio;
  }
  return best == nullptr ? "" : best->name;
}

std::string loss_text(double loss, Metric metric) {
  if (metric == Metric::kError) return fmt::format("{:.4f}", loss);
  return fmt::format("{:.2f} points", loss * 100);
}

}  // namespace berth::models
