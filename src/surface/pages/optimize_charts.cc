#include "surface/pages/optimize_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "base/core/figure_text.h"
#include "models/optimize/keep_rules.h"
#include "surface/figures/optimize_words.h"
#include "surface/pages/chart.h"
#include "surface/pages/optimize_names.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using models::BatchLatency;
using models::Findings;
using models::IntervalFigure;
using models::Manifest;
using models::Metric;
using models::VariantRecord;

std::string picture_text(double x, double y, std::string_view attributes, std::string_view markup) {
  return fmt::format(R"(<text x="{}" y="{}"{}{}>{}</text>)", position(x), position(y), attributes.empty() ? "" : " ",
                     attributes, markup);
}

/// The variants that were measured, as many as are drawn.
std::vector<const VariantRecord*> drawn_variants(const Findings& findings) {
  std::vector<const VariantRecord*> drawn;
  for (const VariantRecord& variant : findings.variants) {
    if (variant.figures && drawn.size() < kVariantsDrawnMax) drawn.push_back(&variant);
  }
  return drawn;
}

std::string drawn_remark(const Findings& findings, std::size_t drawn) {
  const auto measured = static_cast<std::size_t>(
      std::ranges::count_if(findings.variants, [](const VariantRecord& each) { return each.figures.has_value(); }));
  return measured > drawn ? fmt::format("; the first {} of {} variants", drawn, measured) : "";
}

/// Recommended and kept ones are filled, refused ones hollow.
std::string variant_mark(std::string_view style, double x, double y, bool is_settled = true) {
  if (style == "best")
    return fmt::format(R"(<circle class="point best" cx="{}" cy="{}" r="5"/>)", position(x), position(y));
  return fmt::format(R"(<circle class="point {}{}" cx="{}" cy="{}" r="4"/>)", style, is_settled ? "" : " open",
                     position(x), position(y));
}

// Time by batch

constexpr double kTimeLeft = 252;
constexpr double kTimeRight = 806;
constexpr double kTimeTop = 26;
constexpr double kTimeLaneHeight = 19;
constexpr double kTimeBlockMin = 36;  ///< the name of a variant with its verdict below
constexpr double kTimeGap = 14;
constexpr double kTimeRatioMax = 16;  ///< the axis goes no further; the figures at the right do
constexpr std::size_t kNameCharactersMax = 20;

/// A logarithmic scale of ratios.
struct RatioScale {
  ChartScale log = {};

  /// Within the scale, also for what is no ratio.
  [[nodiscard]] double at(double ratio) const {
    if (std::isnan(ratio) || ratio <= 0) return log.at_first;
    return std::clamp(log.at(std::log(ratio)), log.at_first, log.at_last);
  }
};

bool is_ratio(double value) { return std::isfinite(value) && value > 0; }

RatioScale ratio_scale(const std::vector<const VariantRecord*>& variants) {
  double least = 1 - models::kLatencyGainMin;
  double most = 1 / least;
  const auto with = [&](double ratio) {
    if (!is_ratio(ratio)) return;
    least = std::max(1 / kTimeRatioMax, std::min(least, ratio));
    most = std::min(kTimeRatioMax, std::max(most, ratio));
  };
  for (const VariantRecord* variant : variants) {
    for (const BatchLatency& latency : variant->figures->latency) {
      with(latency.ratio.low);
      with(latency.ratio.high);
    }
  }
  constexpr double kMargin = 0.04;
  const double margin = kMargin * std::log(most / least);
  return {.log = {.first = std::log(least) - margin,
                  .last = std::log(most) + margin,
                  .at_first = kTimeLeft,
                  .at_last = kTimeRight}};
}

/// Round ratios with enough space between them, those that matter most first.
std::vector<double> ratio_ticks(const RatioScale& x) {
  constexpr std::array kByRank = {1.0, 0.5,  2.0, 0.25, 4.0, 0.75, 1.5, 0.1,  8.0, 0.9, 1.1, 0.6, 1.25,
                                  3.0, 0.35, 0.8, 0.7,  0.4, 0.3,  0.2, 0.15, 5.0, 6.0, 10., 12.0};
  constexpr double kApartMin = 42;
  std::vector<double> ticks;
  for (const double ratio : kByRank) {
    const double at = x.log.at(std::log(ratio));
    if (at < x.log.at_first || at > x.log.at_last) continue;
    if (std::ranges::all_of(ticks, [&](double other) { return std::abs(x.at(other) - at) >= kApartMin; })) {
      ticks.push_back(ratio);
    }
  }
  std::ranges::sort(ticks);
  return ticks;
}

std::string ratio_axis(const RatioScale& x, double bottom) {
  std::string svg;
  for (const double ratio : ratio_ticks(x)) {
    svg += fmt::format(R"(<path class="{}" d="M{} {}V{}"/>)", ratio == 1 ? "same" : "gridline", position(x.at(ratio)),
                       position(kTimeTop - 4), position(bottom)) +
           picture_text(x.at(ratio), bottom + 16, R"(text-anchor="middle")", fmt::format("{:.6g} x", ratio));
  }
  return svg;
}

/// What the rules want: above one of these lines a variant is refused.
std::string ratio_limits(const RatioScale& x, double bottom, models::Goal goal) {
  const auto line = [&](double ratio, std::string_view anchor, std::string_view words) {
    const double aside = anchor == "end" ? -3 : 3;
    return fmt::format(R"(<path class="limitline" d="M{} {}V{}"/>)", position(x.at(ratio)), position(kTimeTop - 12),
                       position(bottom)) +
           picture_text(x.at(ratio) + aside, kTimeTop - 14, fmt::format(R"(text-anchor="{}")", anchor), words);
  };
  std::string svg =
      line(models::kBatchRatioMax, "start", fmt::format("{:.2f} x: the most for a batch", models::kBatchRatioMax));
  if (goal == models::Goal::kLatency) {
    svg += line(1 - models::kLatencyGainMin, "end",
                fmt::format("{:.2f} x: the most for the mean", 1 - models::kLatencyGainMin));
  }
  return svg;
}

/// One row of a variant: a batch size, or the mean.
struct TimeLane {
  std::string name;
  IntervalFigure ratio = {};
  bool is_mean = false;
  bool is_settled = true;
  std::string title;
};

TimeLane batch_lane(const BatchLatency& latency) {
  return {.name = fmt::format("batch {}", with_separators(latency.batch)),
          .ratio = latency.ratio,
          .is_settled = latency.is_settled,
          .title = fmt::format("{}, original {}, {} rounds{}", figures::duration_text(latency.variant_us),
                               figures::duration_text(latency.original_us), latency.rounds,
                               latency.is_settled ? "" : ", the time ran out")};
}

std::vector<TimeLane> time_lanes(const VariantRecord& variant) {
  std::vector<TimeLane> lanes;
  for (const BatchLatency& latency : variant.figures->latency) {
    if (lanes.size() < kBatchesDrawnMax) lanes.push_back(batch_lane(latency));
  }
  if (lanes.size() > 1) {
    lanes.push_back({.name = "mean", .ratio = variant.figures->time_ratio, .is_mean = true, .title = "geometric mean"});
  }
  return lanes;
}

double block_height(std::size_t lanes) { return std::max(kTimeBlockMin, kTimeLaneHeight * static_cast<double>(lanes)); }

std::string lane_markup(const TimeLane& lane, const RatioScale& x, double middle, std::string_view style) {
  const std::string figure = figures::ratio_interval_text(lane.ratio) + (lane.is_settled ? "" : " *");
  std::string svg =
      picture_text(kTimeLeft - 10, middle + 4, R"(text-anchor="end")", lane.name) +
      picture_text(ChartFrame::kWidth, middle + 4,
                   lane.is_mean ? R"(class="figure strong" text-anchor="end")" : R"(class="figure" text-anchor="end")",
                   figure);
  if (!is_ratio(lane.ratio.value)) return svg;
  const double at = x.at(lane.ratio.value);
  svg += fmt::format(R"(<g><title>{}: {}; {}</title><path class="interval {}" d="M{} {}v6m0-3H{}m0-3v6"/>)", lane.name,
                     figure, lane.title, style, position(x.at(lane.ratio.low)), position(middle - 3),
                     position(x.at(lane.ratio.high)));
  svg += lane.is_mean ? fmt::format(R"(<path class="point {}" d="M{} {}l6 6-6 6-6-6z"/>)", style, position(at),
                                    position(middle - 6))
                      : variant_mark(style == "best" ? "kept" : style, at, middle, lane.is_settled);
  return svg + "</g>";
}

std::string time_block(const Findings& findings, const VariantRecord& variant, const RatioScale& x, double top) {
  const std::string_view style = variant_style(findings, variant);
  std::string svg = fmt::format("<g><title>{}</title>{}</g>", whole_name(variant.name),
                                picture_text(0, top + 13, style == "best" ? R"(class="name ours")" : R"(class="name")",
                                             picture_name(variant.name, kNameCharactersMax))) +
                    picture_text(0, top + 28, "", variant_verdict(findings, variant));
  const std::vector<TimeLane> lanes = time_lanes(variant);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    svg += lane_markup(lanes[i], x, top + kTimeLaneHeight * (static_cast<double>(i) + 0.5), style);
  }
  return svg;
}

// Loss against memory

constexpr double kMiB = 1024.0 * 1024.0;

/// A variant, or the original, in the plane of memory and loss.
struct LossPoint {
  const VariantRecord* variant = nullptr;  ///< null: the original
  double memory_mib = 0;
  double aside = 0;          ///< how far it is moved in the picture, so that it does not hide another
  IntervalFigure loss = {};  ///< in points, or the error
};

/// In points of percent where losses are shares.
double loss_unit(Metric metric) { return metric == Metric::kError ? 1 : 100; }

std::vector<LossPoint> loss_points(const Findings& findings, const std::vector<const VariantRecord*>& variants) {
  const double unit = loss_unit(findings.metric);
  std::vector<LossPoint> points = {{.memory_mib = static_cast<double>(findings.original.run_bytes) / kMiB}};
  for (const VariantRecord* variant : variants) {
    const IntervalFigure& loss = variant->figures->judging.loss;
    if (std::isnan(loss.value)) continue;
    points.push_back({.variant = variant,
                      .memory_mib = static_cast<double>(variant->figures->model.run_bytes) / kMiB,
                      .loss = {.value = loss.value * unit, .low = loss.low * unit, .high = loss.high * unit}});
  }
  return points;
}

/// So that a variant that loses all does not hide how the others compare: up to a few times what is allowed or what the
/// kept ones may lose; what is beyond is drawn at the edge.
ChartScale loss_scale(const ChartFrame& frame, const std::vector<LossPoint>& points, double allowed) {
  constexpr double kTimesAllowed = 4;
  double largest = allowed;
  double limit = kTimesAllowed * allowed;
  double least = 0;
  for (const LossPoint& point : points) {
    const bool is_kept = point.variant != nullptr && point.variant->is_kept;
    if (is_kept && std::isfinite(point.loss.high)) limit = std::max(limit, point.loss.high);
    for (const double each : {point.loss.value, point.loss.high}) {
      if (std::isfinite(each)) largest = std::max(largest, each);
    }
    if (std::isfinite(point.loss.low)) least = std::min(least, point.loss.low);
  }
  const double most = limit > 0 ? std::min(largest, limit) : largest;
  const double last = most > 0 ? most * 1.08 : 1;
  return {.first = std::max(least, -last), .last = last, .at_first = frame.bottom, .at_last = frame.top};
}

ChartScale memory_scale(const ChartFrame& frame, const std::vector<LossPoint>& points) {
  const auto [least, most] = std::ranges::minmax(points, {}, &LossPoint::memory_mib);
  const double span = std::max(most.memory_mib - least.memory_mib, 0.02 * std::abs(most.memory_mib) + 0.01);
  return {.first = least.memory_mib - 0.12 * span,
          .last = most.memory_mib + 0.12 * span,
          .at_first = frame.left + 8,
          .at_last = frame.right};
}

double memory_at(const ChartScale& x, const LossPoint& point) { return x.at(point.memory_mib) + point.aside; }

/// Moves points of almost the same memory apart.
void spread_points(std::vector<LossPoint>& points, const ChartScale& x) {
  constexpr double kApartMin = 9;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double before = memory_at(x, points[j]);
      if (std::abs(memory_at(x, points[i]) - before) < kApartMin) {
        points[i].aside = before + kApartMin - x.at(points[i].memory_mib);
      }
    }
  }
}

std::string memory_axis(const ChartFrame& frame, const ChartScale& x) {
  constexpr int kSteps = 6;
  std::string svg;
  for (const double mib : round_values(x.first, x.last, kSteps)) {
    svg += fmt::format(R"(<path class="tickline" d="M{} {}v4"/>)", position(x.at(mib)), position(frame.bottom)) +
           picture_text(x.at(mib), frame.bottom + 18, R"(text-anchor="middle")", axis_text(mib, "") + " MiB");
  }
  return svg;
}

double loss_at(const ChartScale& y, double loss) {
  return std::clamp(y.at(std::isinf(loss) ? (loss > 0 ? y.last : y.first) : loss), y.at_last, y.at_first);
}

std::string point_style(const Findings& findings, const LossPoint& point) {
  return point.variant == nullptr ? "origin" : std::string(variant_style(findings, *point.variant));
}

std::string point_markup(const Findings& findings, const LossPoint& point, const ChartScale& x, const ChartScale& y) {
  const double across = memory_at(x, point);
  const double up = loss_at(y, point.loss.value);
  if (point.variant == nullptr) {
    return fmt::format(
        R"(<rect class="point origin" x="{}" y="{}" width="9" height="9"><title>original</title></rect>)",
        position(across - 4.5), position(up - 4.5));
  }
  const std::string style = point_style(findings, point);
  const bool is_beyond = point.loss.value > y.last;
  return fmt::format(
      R"(<g><title>{}: loss {}, {:.1f} MiB</title><path class="interval {}" d="M{} {}V{}"/>{}</g>)",
      whole_name(point.variant->name),
      figures::loss_interval_text(point.variant->figures->judging.loss, findings.metric), point.memory_mib, style,
      position(across), position(loss_at(y, point.loss.low)), position(loss_at(y, point.loss.high)),
      is_beyond ? fmt::format(R"(<path class="point {}" d="M{} {}l6 10h-12z"/>)", style, position(across), position(up))
                : variant_mark(style, across, up));
}

/// Names and losses at the right, each with a line to its point.
std::string point_labels(const ChartFrame& frame, const Findings& findings, const std::vector<LossPoint>& points,
                         const ChartScale& x, const ChartScale& y) {
  constexpr double kApart = 15;
  std::vector<double> wanted;
  wanted.reserve(points.size());
  for (const LossPoint& point : points) wanted.push_back(loss_at(y, point.loss.value));
  const std::vector<double> at = spread_labels(wanted, kApart, frame.top, frame.bottom);
  std::string svg;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const LossPoint& point = points[i];
    const std::string style = point_style(findings, point);
    const std::string name =
        point.variant == nullptr ? "original" : picture_name(point.variant->name, kNameCharactersMax);
    const std::string loss =
        point.variant == nullptr ? "" : models::loss_text(point.variant->figures->judging.loss.value, findings.metric);
    svg +=
        fmt::format(R"(<path class="leaderline" d="M{} {}L{} {}"/>)", position(memory_at(x, point)),
                    position(wanted[i]), position(frame.right + 14), position(at[i])) +
        picture_text(frame.right + 18, at[i] + 4, style == "best" ? R"(class="name ours")" : R"(class="name")", name) +
        picture_text(ChartFrame::kWidth, at[i] + 4, R"(class="figure" text-anchor="end")",
                     std::isfinite(point.loss.value) ? loss : "infinite");
  }
  return svg;
}

std::string allowed_line(const ChartFrame& frame, const ChartScale& y, const Manifest& manifest) {
  const double allowed = manifest.terms.max_loss * loss_unit(manifest.findings.metric);
  const double at = y.at(allowed);
  return fmt::format(R"(<path class="limitline" d="M{} {}H{}"/>)", position(frame.left), position(at),
                     position(frame.right)) +
         picture_text(frame.left + 6, at - 5, R"(class="halo")",
                      "allowed: " + models::loss_text(manifest.terms.max_loss, manifest.findings.metric));
}

}  // namespace

std::string time_ratio_figure(const Manifest& manifest) {
  const Findings& findings = manifest.findings;
  const std::vector<const VariantRecord*> variants = drawn_variants(findings);
  if (variants.empty()) return "";
  const RatioScale x = ratio_scale(variants);
  std::string blocks;
  double top = kTimeTop;
  bool has_more_batches = false;
  for (const VariantRecord* variant : variants) {
    if (top > kTimeTop) {
      blocks +=
          fmt::format(R"(<path class="axisline" d="M0 {}H{}"/>)", position(top - kTimeGap / 2), ChartFrame::kWidth);
    }
    blocks += time_block(findings, *variant, x, top);
    top += block_height(time_lanes(*variant).size()) + kTimeGap;
    has_more_batches = has_more_batches || variant->figures->latency.size() > kBatchesDrawnMax;
  }
  const double bottom = top - kTimeGap + 4;
  return chart_figure(
      {.title = "Time of each variant / the original's",
       .remark = "left of 1 x is faster" + drawn_remark(findings, variants.size()) +
                 (has_more_batches ? fmt::format("; the first {} batch sizes", kBatchesDrawnMax) : ""),
       .label = "Time of each variant relative to the original, by batch size, with 95 % intervals; the table of all "
                "figures has the same figures",
       .height = bottom + 24,
       .svg = ratio_axis(x, bottom) + ratio_limits(x, bottom, manifest.terms.goal) + blocks});
}

std::string time_ratio_key() {
  const auto mark = [](std::string_view style) {
    return fmt::format(R"(<path class="interval {0}" d="M0 6H16"/><circle class="point {0}" cx="8" cy="6" r="4"/>)",
                       style);
  };
  return "<ul class=\"key\" aria-label=\"Legend\">" + key_item(mark("kept"), "kept: the ratio, its 95 % interval") +
         key_item(mark("refused"), "refused") +
         key_item(R"(<path class="point kept" d="M8 0l6 6-6 6-6-6z"/>)", "geometric mean of the batches") +
         key_item(R"(<path class="same" d="M8 0V12"/>)", "as fast as the original") + "</ul>";
}

std::string loss_memory_figure(const Manifest& manifest) {
  const Findings& findings = manifest.findings;
  const std::vector<const VariantRecord*> variants = drawn_variants(findings);
  if (variants.empty()) return "";
  std::vector<LossPoint> points = loss_points(findings, variants);
  const double bottom = std::max(230.0, 20 + 15 * static_cast<double>(points.size()));
  const ChartFrame frame{.right = 690, .top = 14, .bottom = bottom, .height = bottom + 26};
  const ChartScale x = memory_scale(frame, points);
  const ChartScale y = loss_scale(frame, points, manifest.terms.max_loss * loss_unit(findings.metric));
  spread_points(points, x);
  std::string svg = value_axis(frame, y, "") + memory_axis(frame, x) + point_labels(frame, findings, points, x, y);
  for (const LossPoint& point : points) svg += point_markup(findings, point, x, y);
  svg += allowed_line(frame, y, manifest);
  const bool is_error = findings.metric == Metric::kError;
  return chart_figure({.title = "Loss against memory",
                       .remark = fmt::format("{}; resident memory with a run of the largest batch{}",
                                             is_error ? "loss as the error"
                                                      : fmt::format("loss in points of {}", name_of(findings.metric)),
                                             drawn_remark(findings, variants.size())),
                       .label = "Loss of each variant with its 95 % interval, against its memory; the table of all "
                                "variants has the same figures",
                       .height = frame.height,
                       .svg = svg});
}

std::string loss_memory_key() {
  const auto mark = [](std::string_view style) {
    return fmt::format(R"(<path class="interval {0}" d="M8 0V12"/><circle class="point {0}" cx="8" cy="6" r="4"/>)",
                       style);
  };
  return "<ul class=\"key\" aria-label=\"Legend\">" +
         key_item(R"(<rect class="point origin" x="4" y="2" width="9" height="9"/>)", "the original") +
         key_item(mark("kept"), "kept: the loss, its 95 % interval") + key_item(mark("refused"), "refused") +
         key_item(R"(<path class="point refused" d="M8 1l6 10h-12z"/>)", "beyond the top of the picture") +
         key_item(R"(<path class="limitline" d="M0 6H16"/>)", "the allowed loss") + "</ul>";
}

}  // namespace berth::report
