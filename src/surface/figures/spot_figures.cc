#include "surface/figures/spot_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/figure_text.h"
#include "purchase/spot/verdict.h"

namespace berth::figures {
namespace {

using purchase::SpotGroup;
using purchase::SpotScore;
using purchase::SpotStudy;
using purchase::SpotTotals;

constexpr int kAverageDigits = 10;

Cell average_cell(const SpotTotals& totals) {
  const Decimal mean = totals.average_usd();
  return {.value = with_digits(mean, kAverageDigits), .text = purchase::usd_text(mean)};
}

Cell score_cell(const SpotTotals& totals, const SpotStudy& study) {
  const auto points = purchase::score_of(totals, study);
  if (!points) return {};
  return {.value = points->to_double(), .text = fmt::format("{:.2f}", points->to_double())};
}

Cell missed_cell(const SpotTotals& totals) {
  Cell cell = count_cell(totals.missed);
  cell.markup = fmt::format("{} of {}", *cell.text, with_separators(totals.runs));
  return cell;
}

/// For programs, the switches of all runs; for people, those per run.
Cell switches_cell(const SpotTotals& totals) {
  Cell cell{.value = totals.switches};
  if (totals.runs == 0) return cell;
  cell.text = fmt::format("{:.1f}", static_cast<double>(totals.switches) / static_cast<double>(totals.runs));
  return cell;
}

json::Value groups_value(const SpotScore& score) {
  json::Value::List groups;
  for (const SpotGroup& group : score.groups) {
    groups.push_back(json::Value::Object{{"deadline_hours", purchase::hours_text(group.deadline_seconds)},
                                         {"restart_hours", purchase::hours_text(group.restart_seconds)},
                                         {"runs", group.totals.runs},
                                         {"average_usd", average_cell(group.totals).value},
                                         {"missed", group.totals.missed}});
  }
  return groups;
}

std::vector<Column> spot_columns(const SpotStudy& study) {
  std::vector<Column> columns = {
      {.key = "policy", .heading = "policy", .label = "Policy"},
      {.key = "hindsight"},
      {.key = "runs"},
      {.key = "total_micro_usd"},
      {.key = "average_usd", .heading = "mean of a run", .label = "Mean of a run"},
      {.key = "score", .heading = "score", .label = "Score"},
      {.key = "missed", .heading = "missed", .label = "Deadlines missed"},
      {.key = "switches", .heading = "restarts", .label = "Restarts in a run"},
      {.key = "groups"},
  };
  for (const std::int64_t deadline : study.deadlines) {
    for (const std::int64_t restart : study.restarts) {
      columns.push_back(
          {.heading = fmt::format("{}h/{}h", purchase::hours_text(deadline), purchase::hours_text(restart))});
    }
  }
  return columns;
}

Row spot_row(const SpotScore& score, const SpotStudy& study, const Decimal& most_usd) {
  const SpotTotals& totals = score.totals;
  const bool has_hindsight = purchase::has_hindsight(score.policy);
  const double share = most_usd.sign() > 0 ? (totals.average_usd() / most_usd).to_double() : 0;
  Row row{.cells = {name_cell(purchase::name_of(score.policy), has_hindsight),
                    {.value = has_hindsight},
                    {.value = totals.runs},
                    {.value = totals.micro_usd.round_half_even()},
                    barred_cell(average_cell(totals), share),
                    score_cell(totals, study),
                    missed_cell(totals),
                    switches_cell(totals),
                    {.value = groups_value(score)}},
          .is_ours = score.policy == purchase::SpotPolicy::kBerth};
  for (const SpotGroup& group : score.groups) row.cells.push_back(average_cell(group.totals));
  return row;
}

}  // namespace

FigureTable spot_figures(const std::vector<SpotScore>& scores, const SpotStudy& study) {
  Decimal most_usd;
  for (const SpotScore& score : scores) most_usd = std::max(most_usd, score.totals.average_usd());
  FigureTable table{.columns = spot_columns(study), .rows = {}};
  for (const SpotScore& score : scores) table.rows.push_back(spot_row(score, study, most_usd));
  return table;
}

}  // namespace berth::figures
