#include "surface/pages/spot_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>

#include "base/core/figure_text.h"
#include "purchase/spot/verdict.h"
#include "surface/pages/chart.h"
#include "surface/pages/spot_report.h"

namespace berth::report {
namespace {

using purchase::SpotOutcome;
using purchase::SpotPolicy;
using purchase::SpotScore;
using purchase::SpotStudy;

constexpr std::size_t kLanesOfPolicyMax = 4;
constexpr std::size_t kFewRuns = 300;  ///< of a policy: their points are larger
constexpr double kLaneHeight = 34;
constexpr double kPolicyGap = 12;
constexpr double kLanesTop = 6;

double usd_of(const SpotOutcome& run) { return run.micro_usd.to_double() / 1e6; }

bool has_lane_per_deadline(const SpotStudy& study) { return study.deadlines.size() <= kLanesOfPolicyMax; }

/// The number of runs per drawn point.
double runs_per_point(const SpotScore& score) {
  return std::max(1.0, static_cast<double>(score.runs.size()) / static_cast<double>(kSpotPointsMax));
}

/// Samples runs evenly and independently of the order of deadlines and restarts: the fractional parts of multiples of
/// the golden ratio are equidistributed (Weyl).
bool is_drawn(std::size_t index, double per_point) {
  constexpr double kGolden = 0.6180339887498949;
  const double multiple = static_cast<double>(index) * kGolden;
  return (multiple - std::floor(multiple)) * per_point < 1;
}

/// The mean of a policy's runs, of one deadline or of all.
std::optional<Decimal> mean_usd(const SpotScore& score, const std::optional<std::int64_t>& deadline_seconds) {
  purchase::SpotTotals totals;
  for (const purchase::SpotGroup& group : score.groups) {
    if (deadline_seconds && group.deadline_seconds != *deadline_seconds) continue;
    totals.runs += group.totals.runs;
    totals.micro_usd += group.totals.micro_usd;
  }
  return totals.runs == 0 ? std::nullopt : std::optional(totals.average_usd());
}

struct CostRange {
  double least = std::numeric_limits<double>::max();
  double most = std::numeric_limits<double>::lowest();
};

CostRange range_of(const std::vector<SpotScore>& scores) {
  CostRange range;
  for (const SpotScore& score : scores) {
    for (const SpotOutcome& run : score.runs) {
      range.least = std::min(range.least, usd_of(run));
      range.most = std::max(range.most, usd_of(run));
    }
  }
  if (range.least > range.most) return {.least = 0, .most = 1};
  const double margin = range.most > range.least ? 0.02 * (range.most - range.least) : std::max(0.5, 0.02 * range.most);
  return {.least = range.least - margin, .most = range.most + margin};
}

/// 0, 1/2, 1/4, 3/4, 1/8 ...: a sequence that fills [0, 1) evenly at any length (van der Corput).
double evenly(std::size_t index) {
  double value = 0;
  for (double part = 0.5; index > 0; index /= 2, part /= 2) value += (index % 2 == 1) ? part : 0;
  return value;
}

/// The points of one row: where many runs cost about the same, they spread over its whole height.
class Lane {
 public:
  Lane(const ChartScale& x, double middle) : x_(x), middle_(middle) {}

  void add(const SpotOutcome& run) {
    const double at = x_.at(usd_of(run));
    bins_[static_cast<std::int64_t>(at / kBinWidth)].push_back({.at = at, .is_missed = run.is_missed});
  }

  [[nodiscard]] std::string markup(bool is_ours, bool is_few) const {
    std::string in_time;
    std::string late;
    for (const auto& [bin, points] : bins_) {
      const double spread = kLaneHeight * std::min(0.86, 0.16 * std::sqrt(static_cast<double>(points.size())));
      for (std::size_t i = 0; i < points.size(); ++i) {
        const double y = middle_ + spread * (points.size() == 1 ? 0 : evenly(i) - 0.5);
        if (points[i].is_missed) {
          fmt::format_to(std::back_inserter(late), "M{} {}l4 4m0-4l-4 4", position(points[i].at - 2), position(y - 2));
        } else {
          fmt::format_to(std::back_inserter(in_time), "M{} {}h0", position(points[i].at), position(y));
        }
      }
    }
    std::string svg;
    if (!in_time.empty())
      svg += fmt::format(R"(<path class="run{}{}" d="{}"/>)", is_ours ? " ours" : "", is_few ? " few" : "", in_time);
    if (!late.empty()) svg += fmt::format(R"(<path class="run late" d="{}"/>)", late);
    return svg;
  }

 private:
  static constexpr double kBinWidth = 4;
  struct Point {
    double at = 0;
    bool is_missed = false;
  };
  ChartScale x_;
  double middle_ = 0;
  std::map<std::int64_t, std::vector<Point>> bins_;
};

/// Draws the rows of points one below the other.
class PointsPicture {
 public:
  PointsPicture(const SpotStudy& study, const std::vector<SpotScore>& scores) : study_(study), scores_(scores) {
    lanes_ = has_lane_per_deadline(study) ? study.deadlines.size() : 1;
    const auto rows = static_cast<double>(lanes_ * scores.size());
    frame_.bottom = kLanesTop + rows * kLaneHeight + static_cast<double>(scores.size() - 1) * kPolicyGap + 6;
    frame_.height = frame_.bottom + 24;
    const CostRange range = range_of(scores);
    x_ = {.first = range.least, .last = range.most, .at_first = frame_.left, .at_last = frame_.right};
  }

  [[nodiscard]] std::string markup() const {
    std::string svg = cost_axis();
    double top = kLanesTop;
    for (const SpotScore& score : scores_) {
      if (top > kLanesTop) {
        svg += fmt::format(R"(<path class="rule" d="M0 {}H{}"/>)", position(top - kPolicyGap / 2), ChartFrame::kWidth);
      }
      svg += policy_lanes(score, top);
      top += static_cast<double>(lanes_) * kLaneHeight + kPolicyGap;
    }
    return svg;
  }
  [[nodiscard]] double height() const { return frame_.height; }

 private:
  [[nodiscard]] std::string cost_axis() const {
    constexpr int kSteps = 9;
    std::string svg;
    for (const double usd : round_values(x_.first, x_.last, kSteps)) {
      svg += fmt::format(
          R"(<path class="gridline" d="M{0} {1}V{2}"/><text x="{0}" y="{3}" text-anchor="middle">{4}</text>)",
          position(x_.at(usd)), position(kLanesTop), position(frame_.bottom), position(frame_.bottom + 16),
          axis_text(usd, "$"));
    }
    return svg;
  }

  static double middle_of(std::size_t lane, double top) {
    return top + kLaneHeight * (static_cast<double>(lane) + 0.5);
  }

  [[nodiscard]] std::string policy_lanes(const SpotScore& score, double top) const {
    std::vector<Lane> lanes;
    lanes.reserve(lanes_);
    for (std::size_t lane = 0; lane < lanes_; ++lane) lanes.emplace_back(x_, middle_of(lane, top));
    const double per_point = runs_per_point(score);
    for (std::size_t i = 0; i < score.runs.size(); ++i) {
      const std::size_t lane = lanes_ == 1 ? 0 : i / study_.restarts.size() % study_.deadlines.size();
      if (is_drawn(i, per_point)) lanes[lane].add(score.runs[i]);
    }
    const bool is_ours = score.policy == SpotPolicy::kBerth;
    std::string svg = fmt::format(R"(<text class="name{}" x="0" y="{}">{}{}</text>)", is_ours ? " ours" : "",
                                  position(top + kLaneHeight / 2 + 4), purchase::name_of(score.policy),
                                  purchase::has_hindsight(score.policy) ? " *" : "");
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      const auto deadline = has_lane_per_deadline(study_) ? std::optional(study_.deadlines[lane]) : std::nullopt;
      svg += lanes[lane].markup(is_ours, score.runs.size() <= kFewRuns) +
             lane_words(deadline, middle_of(lane, top), mean_usd(score, deadline));
    }
    return svg;
  }

  [[nodiscard]] std::string lane_words(const std::optional<std::int64_t>& deadline, double middle,
                                       const std::optional<Decimal>& mean) const {
    std::string svg;
    if (deadline) {
      svg += fmt::format(R"(<text x="{}" y="{}" text-anchor="end">{} h</text>)", position(frame_.left - 10),
                         position(middle + 4), purchase::hours_text(*deadline));
    }
    if (!mean) return svg;
    const std::string at = position(x_.at(mean->to_double()));
    return svg + fmt::format(R"(<path class="mean" d="M{} {}v{}m0 0l-4 6h8z"/>)"
                             R"(<text class="figure" x="{}" y="{}" text-anchor="end">{}</text>)",
                             at, position(middle - kLaneHeight / 2 + 2), position(kLaneHeight - 10), ChartFrame::kWidth,
                             position(middle + 4), purchase::usd_text(*mean));
  }

  const SpotStudy& study_;
  const std::vector<SpotScore>& scores_;
  std::size_t lanes_ = 1;
  ChartFrame frame_ = {.left = 176, .right = ChartFrame::kWidth - 66, .top = kLanesTop};
  ChartScale x_;
};

}  // namespace

std::string spot_points_lead(const SpotStudy& study, const std::vector<SpotScore>& scores) {
  std::string lead = has_lane_per_deadline(study)
                         ? "Each point is one run, in a lane for each policy and deadline; "
                         : "Each point is one run, of all deadlines, in a lane for each policy; ";
  lead +=
      "points of about the same cost spread over the height of the lane. The line with a foot is the mean of a lane, "
      "written "
      "on the right. A cross: the deadline was missed. * works in hindsight.";
  const double per_point = runs_per_point(scores.front());
  if (per_point <= 1) return lead;
  return lead + fmt::format(" About one run in {:.3g} is drawn; means are of all.", per_point);
}

std::string spot_points_figure(const SpotStudy& study, const std::vector<SpotScore>& scores) {
  const PointsPicture picture(study, scores);
  return chart_figure({.title = "Cost of a run",
                       .remark = fmt::format("{} runs of each policy",
                                             with_separators(static_cast<std::int64_t>(scores.front().runs.size()))),
                       .label = "The cost of every run in dollars, by policy and deadline",
                       .height = picture.height(),
                       .svg = picture.markup()});
}

}  // namespace berth::report
