#include "surface/pages/spot_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "base/core/figure_text.h"
#include "purchase/spot/verdict.h"
#include "surface/pages/chart.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using purchase::Hold;
using purchase::Holding;
using purchase::Market;
using purchase::SpotOutcome;
using purchase::SpotPolicy;
using purchase::SpotScore;
using purchase::SpotStudy;

constexpr std::size_t kZonesMax = 6;
constexpr double kZoneRow = 18;
constexpr double kPolicyRow = 34;
constexpr double kStripBarHeight = 24;

/// The policy other than ours, without hindsight, with the lowest mean.
const SpotScore* best_rival(const std::vector<SpotScore>& scores) {
  const SpotScore* best = nullptr;
  for (const SpotScore& score : scores) {
    if (score.policy == SpotPolicy::kBerth || purchase::has_hindsight(score.policy)) continue;
    if (best == nullptr || score.totals.micro_usd < best->totals.micro_usd) best = &score;
  }
  return best;
}

/// The state of a column of a strip: the most frequent one of its ticks.
enum class StripState { kNone, kSpot, kOnDemand };

/// Consecutive equal columns.
struct Stretch {
  std::size_t first = 0;
  std::size_t end = 0;
  StripState state = StripState::kNone;
};

/// `state_at` gives the state of a tick.
template <class StateAt>
std::vector<Stretch> stretches_of(const ColumnPlan& plan, StateAt state_at) {
  std::vector<Stretch> stretches;
  for (std::size_t column = 0; column < plan.columns(); ++column) {
    std::array<std::int64_t, 3> ticks{};
    for (std::int64_t tick = plan.first(column); tick < plan.first(column + 1); ++tick) {
      ++ticks[static_cast<std::size_t>(state_at(tick))];
    }
    const auto state = static_cast<StripState>(std::ranges::max_element(ticks) - ticks.begin());
    if (stretches.empty() || stretches.back().state != state) {
      stretches.push_back({.first = column, .end = column, .state = state});
    }
    stretches.back().end = column + 1;
  }
  return stretches;
}

StripState state_of(const std::vector<Holding>& ticks, std::int64_t tick) {
  if (std::cmp_greater_equal(tick, ticks.size())) return StripState::kNone;
  switch (ticks[static_cast<std::size_t>(tick)].hold) {
    case Hold::kNone:
      return StripState::kNone;
    case Hold::kSpot:
      return StripState::kSpot;
    case Hold::kOnDemand:
      return StripState::kOnDemand;
  }
  return StripState::kNone;
}

/// Whether an instance starts in a tick. Lost spot is not held in the next tick, so equal consecutive holdings are one
/// instance.
bool starts_at(const std::vector<Holding>& ticks, std::size_t tick) {
  return ticks[tick].hold != Hold::kNone && (tick == 0 || ticks[tick - 1] != ticks[tick]);
}

/// The index of `berth`, else 0, the first policy.
std::size_t followed_policy(const std::vector<SpotScore>& scores) {
  const auto ours = std::ranges::find(scores, SpotPolicy::kBerth, &SpotScore::policy);
  return ours == scores.end() ? 0 : static_cast<std::size_t>(ours - scores.begin());
}

/// One run with all its rows.
class StripPicture {
 public:
  StripPicture(const SpotStudy& study, const std::vector<SpotScore>& scores, std::size_t index)
      : study_(study), scores_(scores), index_(index), key_(purchase::run_key(study, index)) {
    for (const SpotScore& score : scores) {
      runs_.push_back(purchase::run_policy(score.policy, market(), key_.job, study.prices));
    }
    const std::int64_t tick_seconds = market().tick_seconds;
    std::int64_t ticks = (key_.job.deadline_seconds + tick_seconds - 1) / tick_seconds;
    for (const purchase::RunResult& run : runs_) ticks = std::max(ticks, std::ssize(run.ticks));
    plan_ = columns_for(ticks);
    zones_ = std::min(kZonesMax, market().zone_count());
    frame_.bottom =
        frame_.top + static_cast<double>(zones_) * kZoneRow + 6 + static_cast<double>(scores.size()) * kPolicyRow + 8;
    frame_.height = frame_.bottom + 22;
    x_ = {.first = 0,
          .last = static_cast<double>(ticks * tick_seconds),
          .at_first = frame_.left,
          .at_last = frame_.right};
  }

  [[nodiscard]] std::string markup() const {
    std::string svg;
    double top = frame_.top;
    for (std::size_t zone = 0; zone < zones_; ++zone, top += kZoneRow) svg += zone_row(zone, top);
    top += 6;
    for (std::size_t i = 0; i < scores_.size(); ++i, top += kPolicyRow) svg += policy_row(i, top);
    return svg + deadline_line() + time_axis(frame_, x_);
  }
  [[nodiscard]] double height() const { return frame_.height; }
  [[nodiscard]] const purchase::SpotRunKey& key() const { return key_; }
  [[nodiscard]] std::int64_t ticks_per_column() const { return plan_.per_column; }
  [[nodiscard]] std::size_t zones_left_out() const { return market().zone_count() - zones_; }

 private:
  [[nodiscard]] const Market& market() const { return study_.markets[key_.market]; }
  [[nodiscard]] double edge(std::size_t column) const {
    return x_.at(static_cast<double>(plan_.first(column) * market().tick_seconds));
  }
  [[nodiscard]] std::string hours_of(const Stretch& stretch) const {
    const auto hours = [&](std::size_t column) {
      return static_cast<double>(plan_.first(column) * market().tick_seconds) / 3600;
    };
    return fmt::format("hours {:.2f} to {:.2f}", hours(stretch.first), hours(stretch.end));
  }
  [[nodiscard]] std::string row_words(std::string_view style, std::string_view name, double baseline,
                                      std::string_view figure) const {
    return fmt::format(
        R"(<text class="{}" x="0" y="{}">{}</text><text class="figure" x="{}" y="{}" text-anchor="end">{}</text>)",
        style, position(baseline), name, ChartFrame::kWidth, position(baseline), figure);
  }

  [[nodiscard]] std::string zone_row(std::size_t zone, double top) const {
    std::int64_t there = 0;
    for (std::int64_t tick = 0; tick < plan_.items; ++tick) there += market().has(zone, tick) ? 1 : 0;
    // The nested <svg> clips a long name.
    std::string svg = fmt::format(R"(<svg x="0" y="{}" width="{}" height="18"><text x="0" y="12">{}</text></svg>)",
                                  position(top), position(frame_.left - 8), html_escaped(market().series[zone]));
    svg += fmt::format(R"(<text x="{}" y="{}" text-anchor="end">{:.0f} %</text>)"
                       R"(<rect class="gone" x="{}" y="{}" width="{}" height="12"/>)",
                       ChartFrame::kWidth, position(top + 12),
                       100 * static_cast<double>(there) / static_cast<double>(plan_.items), position(frame_.left),
                       position(top + 2), position(frame_.right - frame_.left));
    std::string path;
    const auto state_at = [&](std::int64_t tick) {
      return market().has(zone, tick) ? StripState::kSpot : StripState::kNone;
    };
    for (const Stretch& stretch : stretches_of(plan_, state_at)) {
      if (stretch.state != StripState::kSpot) continue;
      fmt::format_to(std::back_inserter(path), "M{} {}H{}v12H{}z", position(edge(stretch.first)), position(top + 2),
                     position(edge(stretch.end)), position(edge(stretch.first)));
    }
    return svg + fmt::format(R"(<path class="there" d="{}"/>)", path) + stay_line(zone, top + 12.5);
  }

  /// With several zones: when the followed policy holds spot in this one.
  [[nodiscard]] std::string stay_line(std::size_t zone, double y) const {
    if (!market().is_joined) return "";
    const std::vector<Holding>& ticks = runs_[followed_policy(scores_)].ticks;
    const auto state_at = [&](std::int64_t tick) {
      const bool is_here =
          std::cmp_less(tick, ticks.size()) && ticks[static_cast<std::size_t>(tick)] == purchase::spot_in(zone);
      return is_here ? StripState::kSpot : StripState::kNone;
    };
    std::string path;
    for (const Stretch& stretch : stretches_of(plan_, state_at)) {
      if (stretch.state != StripState::kSpot) continue;
      fmt::format_to(std::back_inserter(path), "M{} {}H{}", position(edge(stretch.first)), position(y),
                     position(edge(stretch.end)));
    }
    return fmt::format(R"(<path class="stay" d="{}"/>)", path);
  }

  [[nodiscard]] std::string policy_row(std::size_t policy, double top) const {
    const SpotScore& score = scores_[policy];
    const purchase::RunResult& run = runs_[policy];
    const double base = top + kPolicyRow - 4;
    const bool is_ours = score.policy == SpotPolicy::kBerth;
    std::string svg = row_words(
        is_ours ? "name ours" : "name",
        fmt::format("{}{}", purchase::name_of(score.policy), purchase::has_hindsight(score.policy) ? " *" : ""),
        base - 8, cost_text(policy));
    svg += fmt::format(R"(<path class="base" d="M{} {}H{}"/>)", position(frame_.left), position(base),
                       position(frame_.right));
    const auto state_at = [&](std::int64_t tick) { return state_of(run.ticks, tick); };
    for (const Stretch& stretch : stretches_of(plan_, state_at)) svg += held_bar(stretch, base);
    return svg + start_marks(run, base) + done_mark(run, base);
  }

  [[nodiscard]] std::string cost_text(std::size_t policy) const {
    const SpotOutcome& outcome = scores_[policy].runs[index_];
    constexpr std::int64_t kMicro = 1'000'000;
    return purchase::usd_text(outcome.micro_usd / Decimal(kMicro)) + (outcome.is_missed ? " late" : "");
  }

  /// The height is the price per hour, so the area is the cost.
  [[nodiscard]] std::string held_bar(const Stretch& stretch, double base) const {
    if (stretch.state == StripState::kNone) return "";
    const bool is_spot = stretch.state == StripState::kSpot;
    const auto spot = static_cast<double>(study_.prices.spot_micro_usd);
    const auto on_demand = static_cast<double>(study_.prices.on_demand_micro_usd);
    const double height = kStripBarHeight * std::max(0.1, (is_spot ? spot : on_demand) / std::max(spot, on_demand));
    return fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}"><title>{}, {}</title></rect>)",
                       is_spot ? "spot" : "demand", position(edge(stretch.first)), position(base - height),
                       position(edge(stretch.end) - edge(stretch.first)), position(height),
                       is_spot ? "spot" : "on demand", hours_of(stretch));
  }

  [[nodiscard]] std::string start_marks(const purchase::RunResult& run, double base) const {
    std::string path;
    std::optional<std::string> before;
    for (std::size_t tick = 0; tick < run.ticks.size(); ++tick) {
      if (!starts_at(run.ticks, tick)) continue;
      std::string at = position(x_.at(static_cast<double>(static_cast<std::int64_t>(tick) * market().tick_seconds)));
      if (before != at) fmt::format_to(std::back_inserter(path), "M{} {}v-5", at, position(base));
      before = std::move(at);
    }
    return fmt::format(R"(<path class="start" d="{}"/>)", path);
  }

  [[nodiscard]] std::string done_mark(const purchase::RunResult& run, double base) const {
    const double at = x_.at(static_cast<double>(std::ssize(run.ticks) * market().tick_seconds));
    return fmt::format(R"(<path class="done" d="M{} {}v-{}"/>)", position(at), position(base),
                       position(kStripBarHeight));
  }

  [[nodiscard]] std::string deadline_line() const {
    const std::string at = position(x_.at(static_cast<double>(key_.job.deadline_seconds)));
    return fmt::format(R"(<path class="cursor" fill="none" d="M{} {}V{}"/>)", at, position(frame_.top - 4),
                       position(frame_.bottom));
  }

  const SpotStudy& study_;
  const std::vector<SpotScore>& scores_;
  std::size_t index_ = 0;
  purchase::SpotRunKey key_;
  std::vector<purchase::RunResult> runs_;
  ColumnPlan plan_;
  std::size_t zones_ = 1;
  ChartFrame frame_ = {.left = 132, .right = ChartFrame::kWidth - 82, .top = 8};
  ChartScale x_;
};

std::string strip_title(const SpotStudy& study, const purchase::SpotRunKey& key) {
  const Market& market = study.markets[key.market];
  const std::string series = market.is_joined ? fmt::format("{} zones", market.zone_count()) : market.series.front();
  return fmt::format("{}, window {}, deadline {} h, restart {} h", html_escaped(series), html_escaped(market.window),
                     purchase::hours_text(key.job.deadline_seconds), purchase::hours_text(key.job.restart_seconds));
}

std::string strip_remark(const StripPicture& picture, const SpotStripRun& run) {
  std::string remark = run.why;
  if (picture.ticks_per_column() > 1) {
    remark += fmt::format("; a column is {} ticks, in the state of most of them", picture.ticks_per_column());
  }
  if (picture.zones_left_out() > 0) remark += fmt::format("; {} zones are not drawn", picture.zones_left_out());
  return remark;
}

}  // namespace

std::vector<SpotStripRun> chosen_spot_runs(const std::vector<SpotScore>& scores) {
  const SpotScore* ours = purchase::score_of_policy(scores, SpotPolicy::kBerth);
  const SpotScore* rival = best_rival(scores);
  if (ours == nullptr || rival == nullptr) {
    const auto& runs = scores.front().runs;
    const auto most = std::ranges::max_element(runs, {}, &SpotOutcome::micro_usd);
    if (most == runs.end()) return {};
    return {{.index = static_cast<std::size_t>(most - runs.begin()),
             .why = fmt::format("the most expensive run of {}", purchase::name_of(scores.front().policy))}};
  }
  const auto saved = [&](std::size_t run) { return rival->runs[run].micro_usd - ours->runs[run].micro_usd; };
  std::size_t gain = 0;
  std::size_t loss = 0;
  for (std::size_t run = 1; run < ours->runs.size(); ++run) {
    if (saved(run) > saved(gain)) gain = run;
    if (saved(run) < saved(loss)) loss = run;
  }
  constexpr std::int64_t kMicro = 1'000'000;
  std::vector<SpotStripRun> chosen;
  const auto add = [&](std::size_t run, std::string_view way, const Decimal& micro_usd) {
    chosen.push_back(
        {.index = run,
         .why = fmt::format("where berth pays {} than {} by the most: {}", way, purchase::name_of(rival->policy),
                            purchase::usd_text(micro_usd / Decimal(kMicro)))});
  };
  if (ours->runs.empty()) return chosen;
  if (saved(gain).sign() > 0) add(gain, "less", saved(gain));
  if (saved(loss).sign() < 0) add(loss, "more", Decimal(0) - saved(loss));
  if (chosen.empty())
    chosen.push_back({.index = 0, .why = "the first run; berth and its best rival pay the same in all"});
  return chosen;
}

std::string spot_strip_figure(const SpotStudy& study, const std::vector<SpotScore>& scores, const SpotStripRun& run) {
  const StripPicture picture(study, scores, run.index);
  return chart_figure({.title = strip_title(study, picture.key()),
                       .remark = strip_remark(picture, run),
                       .label = "Availability of spot and what each policy held over time",
                       .height = picture.height(),
                       .svg = picture.markup()});
}

std::string spot_strip_key(const SpotStudy& study, const std::vector<SpotScore>& scores) {
  const std::string stay =
      study.markets.front().is_joined
          ? key_item(R"(<rect class="there" y="2" width="16" height="8"/><path class="stay" d="M0 9H16"/>)",
                     fmt::format("{} is in this zone", purchase::name_of(scores[followed_policy(scores)].policy)))
          : "";
  return "<ul class=\"key\" aria-label=\"Legend\">" +
         key_item(R"(<rect class="there" y="2" width="16" height="8"/>)", "spot available") +
         key_item(R"(<rect class="gone" y="2" width="16" height="8"/>)", "not available") + stay +
         key_item(R"(<rect class="spot" y="8" width="16" height="4"/>)", "on spot") +
         key_item(R"(<rect class="demand" width="16" height="12"/>)", "on demand") +
         key_item(R"(<path class="base" d="M0 11H16"/>)", "waiting") +
         key_item(R"(<path class="base" d="M0 11H16"/><path class="start" d="M8 11v-6"/>)", "an instance starts") +
         key_item(R"(<path class="done" d="M8 0V12"/>)", "work done") +
         key_item(R"(<path class="cursor" fill="none" d="M8 0V12"/>)", "deadline") + "</ul>";
}

}  // namespace berth::report
