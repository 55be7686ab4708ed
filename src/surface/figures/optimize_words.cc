#include "surface/figures/optimize_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/core/figure_text.h"
#include "models/optimize/keep_rules.h"

namespace berth::figures {
namespace {

using models::Findings;
using models::Goal;
using models::IntervalFigure;
using models::LossFigure;
using models::Manifest;
using models::Metric;
using models::VariantFigures;
using models::VariantRecord;

constexpr double kPoints = 100;

/// A figure that may be infinite.
std::string number_text(double number, int digits) {
  if (std::isnan(number)) return "unknown";
  if (std::isinf(number)) return number > 0 ? "infinite" : "-infinite";
  std::string text = fmt::format("{:.{}f}", number, digits);
  return std::strtod(text.c_str(), nullptr) == 0 && text.starts_with('-') ? text.substr(1) : text;
}

std::string saved_text(double ratio, std::string_view less, std::string_view more) {
  const double percent = std::round((1 - ratio) * 100);
  if (percent >= 0) return fmt::format("{:.0f} % {}", percent, less);
  return fmt::format("{:.0f} % {}", -percent, more);
}

std::string lost_text(const Findings& findings, const LossFigure& judging) {
  const IntervalFigure& loss = judging.loss;
  if (findings.metric == Metric::kError) {
    return fmt::format("the error is {} ({} to {})", number_text(loss.value, 4), number_text(loss.low, 4),
                       number_text(loss.high, 4));
  }
  return fmt::format("it {} {} points of {} (loss {} to {})", loss.value < 0 ? "gains" : "loses",
                     number_text(std::abs(loss.value) * kPoints, 2), name_of(findings.metric),
                     number_text(loss.low * kPoints, 2), number_text(loss.high * kPoints, 2));
}

/// Of the refused variants that were measured: the nearest to the goal, those within the allowed loss first.
const VariantRecord* closest_variant(const Manifest& manifest) {
  const VariantRecord* closest = nullptr;
  bool is_closest_allowed = false;
  double closest_ratio = 0;
  for (const VariantRecord& variant : manifest.findings.variants) {
    if (!variant.figures || variant.is_kept || variant.reason.empty()) continue;
    const bool is_allowed = variant.figures->choosing.loss.value <= manifest.terms.max_loss &&
                            variant.figures->judging.loss.value <= manifest.terms.max_loss;
    const double ratio = goal_ratio(*variant.figures, manifest.findings.original, manifest.terms.goal);
    const bool is_closer = is_allowed == is_closest_allowed ? ratio < closest_ratio : is_allowed;
    if (closest != nullptr && !is_closer) continue;
    closest = &variant;
    is_closest_allowed = is_allowed;
    closest_ratio = ratio;
  }
  return closest;
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  constexpr double kKiB = 1024;
  const auto size = static_cast<double>(bytes);
  if (std::abs(size) < kKiB) return fmt::format("{} B", bytes);
  if (std::abs(size) < kKiB * kKiB) return fmt::format("{:.1f} KiB", size / kKiB);
  return separated(fmt::format("{:.1f}", size / (kKiB * kKiB))) + " MiB";
}

std::string duration_text(double micros) {
  constexpr double kMilli = 1000;
  return micros < kMilli ? fmt::format("{:.1f} us", micros) : separated(fmt::format("{:.2f}", micros / kMilli)) + " ms";
}

std::string loss_interval_text(const IntervalFigure& loss, Metric metric) {
  const bool is_error = metric == Metric::kError;
  const auto number = [&](double value) { return number_text(is_error ? value : value * kPoints, is_error ? 4 : 2); };
  return fmt::format("{} ({} to {}){}", number(loss.value), number(loss.low), number(loss.high),
                     is_error ? "" : " points");
}

std::string ratio_interval_text(const IntervalFigure& ratio) {
  return fmt::format("{} x ({} to {})", number_text(ratio.value, 2), number_text(ratio.low, 2),
                     number_text(ratio.high, 2));
}

std::string optimize_advice(const Manifest& manifest, std::string_view use) {
  const Findings& findings = manifest.findings;
  const VariantRecord* const best = find_variant(findings, findings.recommended);
  if (best == nullptr || !best->figures) return "Keep the original: nothing that was tried is better.";
  const VariantFigures& figures = *best->figures;
  return fmt::format("Use {}: {}, {}, {}; {}.", use, saved_text(figures.time_ratio.value, "less time", "more time"),
                     saved_text(goal_ratio(figures, findings.original, Goal::kMemory), "less memory", "more memory"),
                     saved_text(goal_ratio(figures, findings.original, Goal::kFile), "smaller file", "larger file"),
                     lost_text(findings, figures.judging));
}

std::string optimize_shortfall(const Manifest& manifest) {
  if (!manifest.findings.recommended.empty()) return "";
  const VariantRecord* const closest = closest_variant(manifest);
  return closest == nullptr ? "" : fmt::format("Closest was {}: {}.", closest->name, closest->reason);
}

std::string rows_text(const models::RowCounts& rows) {
  if (rows.is_one_data_set) {
    return fmt::format("{} of the calibration rows calibrate and choose, the other {} judge",
                       with_separators(rows.choosing), with_separators(rows.judging));
  }
  return fmt::format(
      "{} calibrate, {} choose, {} judge{}", with_separators(rows.calibration), with_separators(rows.choosing),
      with_separators(rows.judging),
      rows.left_out == 0 ? "" : fmt::format("; {} left out that also calibrate", with_separators(rows.left_out)));
}

std::string optimize_measured(const Manifest& manifest) {
  const Findings& findings = manifest.findings;
  return fmt::format(
      "Measured by {} on {}, one thread: each variant and the original in turn, at {} {}{}. The loss is that of the {} "
      "rows that judge, which no search saw. Intervals: 95 %.",
      manifest.engine, manifest.device, findings.batches.size() == 1 ? "batch" : "batches",
      fmt::join(findings.batches, ", "),
      findings.has_fixed_batch ? " (a run of this model takes no other number of rows)" : "",
      with_separators(findings.rows.judging));
}

}  // namespace berth::figures
