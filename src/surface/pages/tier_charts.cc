#include "surface/pages/tier_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "base/core/figure_text.h"
#include "base/core/sort_stably.h"
#include "surface/pages/chart.h"
#include "surface/pages/page_parts.h"
#include "surface/pages/tier_report.h"
#include "tier/choose/verdict.h"

namespace berth::report {
namespace {

using tier::TierAnswer;
using tier::TierProspect;

constexpr std::size_t kTierNameMax = 18;

std::string tier_picture_text(double x, double y, std::string_view attributes, std::string_view markup) {
  return fmt::format(R"(<text x="{}" y="{}"{}{}>{}</text>)", position(x), position(y), attributes.empty() ? "" : " ",
                     attributes, markup);
}

bool is_chosen(const TierAnswer& answer, std::size_t tier) { return answer.choice && answer.choice->tier == tier; }

/// A name for a picture: not longer than there is room, never half a character.
std::string short_tier_name(std::string_view name) {
  if (name.size() <= kTierNameMax) return html_escaped(name);
  std::size_t end = kTierNameMax - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return html_escaped(name.substr(0, end)) + "…";
}

std::string_view style_of(const TierAnswer& answer, std::size_t tier) {
  if (answer.prospects[tier].excluded) return "out";
  return is_chosen(answer, tier) ? "chosen" : "open";
}

/// A diamond for what was measured, a circle for what was predicted.
std::string tier_mark(std::string_view style, bool is_measured, double x, double y) {
  if (!is_measured) {
    return fmt::format(R"(<circle class="point {}" cx="{}" cy="{}" r="5"/>)", style, position(x), position(y));
  }
  return fmt::format(R"(<path class="point {}" d="M{} {}l6 6-6 6-6-6z"/>)", style, position(x), position(y - 6));
}

// Cost against probability

/// A tier in the plane.
struct CostPoint {
  std::size_t tier = 0;
  double cost = 0;
  double probability = 0;
};

std::vector<CostPoint> cost_points(const TierAnswer& answer) {
  std::vector<CostPoint> points;
  for (std::size_t i = 0; i < answer.prospects.size() && points.size() < kTiersDrawnMax; ++i) {
    const auto cost = cost_shown(answer, i);
    const auto& probability = answer.prospects[i].probability;
    if (cost && probability) points.push_back({.tier = i, .cost = cost->to_double(), .probability = *probability});
  }
  return points;
}

std::string cost_axis(const ChartFrame& frame, const ChartScale& x, std::string_view unit) {
  constexpr int kSteps = 8;
  std::string svg;
  for (const double cost : round_values(x.first, x.last, kSteps)) {
    svg += fmt::format(R"(<path class="tickline" d="M{} {}v4"/>)", position(x.at(cost)), position(frame.bottom)) +
           tier_picture_text(x.at(cost), frame.bottom + 18, R"(text-anchor="middle")", axis_text(cost, "$"));
  }
  return svg + tier_picture_text(frame.right, frame.bottom + 36, R"(text-anchor="end")", unit);
}

std::string probability_axis(const ChartFrame& frame, const ChartScale& y, double sure) {
  std::string svg;
  for (const double tick : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    svg += fmt::format(R"(<path class="gridline" d="M{} {}H{}"/>)", position(frame.left), position(y.at(tick)),
                       position(frame.right)) +
           tier_picture_text(frame.left - 8, y.at(tick) + 4, R"(text-anchor="end")", fmt::format("{:g}", tick));
  }
  return svg + fmt::format(R"(<path class="sureline" d="M{} {}H{}"/>)", position(frame.left), position(y.at(sure)),
                           position(frame.right));
}

/// Names at the right, each with a line to its point. Of points at one height the rightmost has the highest name: then
/// the lines do not cross.
std::string cost_labels(const ChartFrame& frame, const TierAnswer& answer, std::vector<CostPoint> points,
                        const ChartScale& x, const ChartScale& y) {
  constexpr double kApart = 16;
  sort_stably(points, [](const CostPoint& point) { return -point.cost; });
  std::vector<double> wanted;
  wanted.reserve(points.size());
  for (const CostPoint& point : points) wanted.push_back(std::round(y.at(point.probability)));
  const std::vector<double> at = spread_labels(wanted, kApart, frame.top, frame.bottom);
  std::string svg;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const CostPoint& point = points[i];
    svg += fmt::format(R"(<path class="leaderline" d="M{} {}L{} {}H{}"/>)", position(x.at(point.cost) + 7),
                       position(y.at(point.probability)), position(frame.right + 8), position(at[i]),
                       position(frame.right + 18)) +
           tier_picture_text(frame.right + 22, at[i] + 4,
                             is_chosen(answer, point.tier) ? R"(class="name ours")" : R"(class="name")",
                             fmt::format("{} ${}, {:.2f}", short_tier_name(answer.call.tiers[point.tier].name),
                                         significant(point.cost), point.probability));
  }
  return svg;
}

std::string_view cost_unit(const TierAnswer& answer) {
  return answer.call.kind == tier::TierKind::kServices ? "cost per hour at the median" : "cost per million samples";
}

std::string drawn_tiers_remark(const TierAnswer& answer) {
  const std::size_t count = answer.prospects.size();
  return count > kTiersDrawnMax ? fmt::format("; at most {} of {} tiers", kTiersDrawnMax, count) : "";
}

// Throughput

constexpr double kRateLeft = 170;
constexpr double kRateRight = 690;
constexpr double kRateTop = 16;
constexpr double kRateLaneHeight = 24;

/// What is drawn of one tier.
struct RateLane {
  std::size_t tier = 0;
  std::optional<tier::Spread> predicted = {};
  std::optional<double> measured = {};
};

std::vector<RateLane> rate_lanes(const TierAnswer& answer) {
  std::vector<RateLane> lanes;
  for (std::size_t i = 0; i < answer.prospects.size() && lanes.size() < kTiersDrawnMax; ++i) {
    const TierProspect& prospect = answer.prospects[i];
    if (!prospect.per_second) continue;
    RateLane lane{.tier = i};
    if (prospect.is_measured) {
      lane.measured = prospect.per_second->median;
      const auto check = std::ranges::find(answer.checks, i, &tier::MeasuredCheck::tier);
      if (check != answer.checks.end()) lane.predicted = check->predicted;
    } else {
      lane.predicted = prospect.per_second;
    }
    lanes.push_back(lane);
  }
  return lanes;
}

/// A logarithmic scale from the smallest to the largest rate above 0.
struct RateScale {
  ChartScale log = {};

  [[nodiscard]] double at(double rate) const {
    return rate > 0 ? std::clamp(log.at(std::log(rate)), log.at_first, log.at_last) : log.at_first;
  }
};

std::optional<RateScale> rate_scale(const std::vector<RateLane>& lanes) {
  double least = HUGE_VAL;
  double most = 0;
  const auto with = [&](double rate) {
    if (!(rate > 0) || !std::isfinite(rate)) return;
    least = std::min(least, rate);
    most = std::max(most, rate);
  };
  for (const RateLane& lane : lanes) {
    if (lane.measured) with(*lane.measured);
    if (!lane.predicted) continue;
    for (const double rate : {lane.predicted->p10, lane.predicted->median, lane.predicted->p90}) with(rate);
  }
  if (most == 0) return std::nullopt;
  const double margin = std::max(0.05 * std::log(most / least), 0.1);
  return RateScale{.log = {.first = std::log(least) - margin,
                           .last = std::log(most) + margin,
                           .at_first = kRateLeft,
                           .at_last = kRateRight}};
}

/// Round rates, 1, 2 or 5 times a power of ten, with room between them.
std::string rate_axis(const RateScale& x, double bottom) {
  constexpr double kApartMin = 60;
  std::string svg;
  double before = -HUGE_VAL;
  for (int power = static_cast<int>(std::floor(x.log.first / std::log(10.0))); power < 16; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double rate = factor * std::pow(10.0, power);
      const double log = std::log(rate);
      if (log < x.log.first || log > x.log.last || x.at(rate) - before < kApartMin) continue;
      before = x.at(rate);
      svg += fmt::format(R"(<path class="gridline" d="M{} {}V{}"/>)", position(before), position(kRateTop - 6),
                         position(bottom)) +
             tier_picture_text(before, bottom + 16, R"(text-anchor="middle")", axis_text(rate, ""));
    }
  }
  return svg;
}

std::string lane_figures(const RateLane& lane) {
  std::string text;
  if (lane.predicted) {
    text = fmt::format("{} ({} to {})", significant(lane.predicted->median), significant(lane.predicted->p10),
                       significant(lane.predicted->p90));
  }
  if (!lane.measured) return text;
  return fmt::format("{}{}{} measured", text, text.empty() ? "" : "; ", significant(*lane.measured));
}

std::string rate_lane_markup(const TierAnswer& answer, const RateLane& lane, const RateScale& x, double middle) {
  const std::string_view style = style_of(answer, lane.tier);
  const std::string& name = answer.call.tiers[lane.tier].name;
  std::string svg = fmt::format("<g><title>{}: {}</title>", html_escaped(name), lane_figures(lane)) +
                    tier_picture_text(kRateLeft - 12, middle + 4,
                                      style == "chosen" ? R"(class="name ours" text-anchor="end")"
                                                        : R"(class="name" text-anchor="end")",
                                      short_tier_name(name)) +
                    tier_picture_text(kRateRight + 14, middle + 4, R"(class="figure")", lane_figures(lane));
  if (lane.predicted) {
    svg += fmt::format(R"(<path class="interval {}" d="M{} {}v8m0-4H{}m0-4v8"/>)", style,
                       position(x.at(lane.predicted->p10)), position(middle - 4), position(x.at(lane.predicted->p90))) +
           tier_mark(style, false, x.at(lane.predicted->median), middle);
  }
  if (lane.measured) svg += tier_mark("seen", true, x.at(*lane.measured), middle);
  return svg + "</g>";
}

}  // namespace

std::string cost_probability_figure(const TierAnswer& answer) {
  const std::vector<CostPoint> points = cost_points(answer);
  if (points.empty()) return "";
  const double bottom = std::max(240.0, 20 + 16 * static_cast<double>(points.size()));
  const ChartFrame frame{.right = 700, .top = 14, .bottom = bottom, .height = bottom + 44};
  double most = 0;
  for (const CostPoint& point : points) most = std::max(most, point.cost);
  const ChartScale x{.first = 0, .last = most > 0 ? most * 1.06 : 1, .at_first = frame.left, .at_last = frame.right};
  const ChartScale y{.first = 0, .last = 1, .at_first = frame.bottom, .at_last = frame.top};
  std::string svg = probability_axis(frame, y, answer.call.sure) + cost_axis(frame, x, cost_unit(answer)) +
                    cost_labels(frame, answer, points, x, y);
  for (const CostPoint& point : points) {
    svg += fmt::format("<g><title>{}</title>{}</g>", html_escaped(answer.call.tiers[point.tier].name),
                       tier_mark(style_of(answer, point.tier), answer.prospects[point.tier].is_measured,
                                 x.at(point.cost), y.at(point.probability)));
  }
  return chart_figure({.title = "Cost against probability",
                       .remark = fmt::format("probability of keeping the target{}", drawn_tiers_remark(answer)),
                       .label =
                           "Probability of keeping the target of each tier against its cost; the table of the tiers "
                           "has the same figures",
                       .height = frame.height,
                       .svg = svg});
}

std::string cost_probability_key() {
  return "<ul class=\"key\" aria-label=\"Legend\">" +
         key_item(R"(<circle class="point chosen" cx="8" cy="6" r="4.5"/>)", "taken") +
         key_item(R"(<circle class="point open" cx="8" cy="6" r="4.5"/>)", "predicted") +
         key_item(R"(<path class="point open" d="M8 0l6 6-6 6-6-6z"/>)", "measured") +
         key_item(R"(<circle class="point out" cx="8" cy="6" r="4.5"/>)", "excluded") +
         key_item(R"(<path class="sureline" d="M0 6H16"/>)", "sure enough") + "</ul>";
}

std::string throughput_figure(const TierAnswer& answer) {
  const std::vector<RateLane> lanes = rate_lanes(answer);
  const auto x = rate_scale(lanes);
  if (!x) return "";
  const double bottom = kRateTop + kRateLaneHeight * static_cast<double>(lanes.size());
  std::string svg = rate_axis(*x, bottom);
  if (answer.call.kind == tier::TierKind::kJobs && answer.call.target.per_second.sign() > 0) {
    const double target = answer.call.target.per_second.to_double();
    if (std::log(target) >= x->log.first && std::log(target) <= x->log.last) {
      svg += fmt::format(R"(<path class="sureline" d="M{} {}V{}"/>)", position(x->at(target)), position(kRateTop - 8),
                         position(bottom));
    }
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    svg += rate_lane_markup(answer, lanes[i], *x, kRateTop + kRateLaneHeight * (static_cast<double>(i) + 0.5));
  }
  return chart_figure(
      {.title = answer.call.kind == tier::TierKind::kServices ? "Requests per second of a slice" : "Samples per second",
       .remark = "logarithmic" + drawn_tiers_remark(answer),
       .label = "Throughput of each tier, predicted with its interval and measured; the table of the tiers "
                "has the same figures",
       .height = bottom + 26,
       .svg = svg});
}

std::string throughput_key() {
  return "<ul class=\"key\" aria-label=\"Legend\">" +
         key_item(
             R"(<path class="interval open" d="M0 2v8m0-4H16m0-4v8"/><circle class="point open" cx="8" cy="6" r="4"/>)",
             "predicted: the median, 10 % to 90 %") +
         key_item(R"(<path class="point seen" d="M8 0l6 6-6 6-6-6z"/>)", "measured") + "</ul>";
}

std::string calibration_figure(const TierAnswer& answer) {
  if (answer.coverage.empty()) return "";
  const ChartFrame frame{.left = 58, .right = 420, .top = 14, .bottom = 270, .height = 312};
  const ChartScale x{.first = 0, .last = 1, .at_first = frame.left, .at_last = frame.right};
  const ChartScale y{.first = 0, .last = 1, .at_first = frame.bottom, .at_last = frame.top};
  std::string svg;
  for (const double tick : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    svg += fmt::format(R"(<path class="gridline" d="M{} {}H{}"/>)", position(frame.left), position(y.at(tick)),
                       position(frame.right)) +
           tier_picture_text(frame.left - 8, y.at(tick) + 4, R"(text-anchor="end")", fmt::format("{:g}", tick)) +
           tier_picture_text(x.at(tick), frame.bottom + 18, R"(text-anchor="middle")", fmt::format("{:g}", tick));
  }
  svg += fmt::format(R"(<path class="same" d="M{} {}L{} {}"/>)", position(x.at(0)), position(y.at(0)),
                     position(x.at(1)), position(y.at(1)));
  std::string line;
  for (const tier::Coverage& each : answer.coverage) {
    line += fmt::format("{}{} {}", line.empty() ? "M" : "L", position(x.at(each.stated)), position(y.at(each.found)));
  }
  svg += fmt::format(R"(<path class="courseline" d="{}"/>)", line);
  std::string figures;
  for (const tier::Coverage& each : answer.coverage) {
    svg += fmt::format(R"(<g><title>stated {:.2f}, found {:.2f}</title>{}</g>)", each.stated, each.found,
                       tier_mark("chosen", false, x.at(each.stated), y.at(each.found)));
  }
  double at = frame.top + 20;
  for (const tier::Coverage& each : answer.coverage) {
    svg += tier_picture_text(470, at, R"(class="figure")",
                             fmt::format("stated {:.0f} %: found {:.1f} %", 100 * each.stated, 100 * each.found));
    at += 20;
  }
  svg += tier_picture_text(frame.right, frame.bottom + 36, R"(text-anchor="end")", "stated share of the interval");
  return chart_figure(
      {.title = "Calibration of the forest",
       .remark = "share found within the central interval that states it, by leaving models out",
       .label = "Found share against stated share of central intervals; the figures are beside the picture",
       .height = frame.height,
       .svg = svg});
}

}  // namespace berth::report
