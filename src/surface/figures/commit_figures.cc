#include "surface/figures/commit_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "purchase/commit/verdict.h"

namespace berth::figures {
namespace {

using purchase::CommitComparison;
using purchase::CommitPolicy;
using purchase::CommitScore;

Cell ratio_cell(const CommitScore& score, const CommitComparison& comparison) {
  const std::int64_t optimal = comparison.optimal.cost.micro_usd;
  if (optimal <= 0) return {.text = purchase::ratio_text(score, comparison)};
  return {.value = share_of(score.cost.micro_usd, optimal), .text = purchase::ratio_text(score, comparison)};
}

Cell against_on_demand_cell(const CommitScore& score, const CommitComparison& comparison) {
  const auto& scores = comparison.scores;
  const auto on_demand = std::ranges::find(scores, CommitPolicy::kOnDemand, &CommitScore::policy);
  if (on_demand == scores.end() || on_demand->cost.micro_usd <= 0) return {};
  const double change = share_of(score.cost.micro_usd, on_demand->cost.micro_usd) - 1;
  const std::string text = fmt::format("{:+.1f} %", change * 100);
  return {.text = text == "+0.0 %" || text == "-0.0 %" ? "0.0 %" : text};
}

/// For programs, the purchases and their times; for people, the amount.
Cell bought_cell(const CommitScore& score, const purchase::PlanList& plans) {
  json::Value::List purchases;
  for (const purchase::Purchase& bought : score.coverage.purchases()) {
    purchases.push_back(json::Value::Object{{"hour", bought.hour},
                                            {"plan", plans.committed[bought.plan].name},
                                            {"units", bought.units},
                                            {"regret_micro_usd", score.coverage.regret_micro_usd(bought.hour)}});
  }
  Cell cell = count_cell(purchase::units_bought(score));
  cell.value = std::move(purchases);
  return cell;
}

Row commit_row(const CommitScore& score, const CommitComparison& comparison, std::int64_t most_micro_usd) {
  const bool has_hindsight = purchase::has_hindsight(score.policy);
  return {.cells = {name_cell(purchase::name_of(score.policy), has_hindsight),
                    {.value = has_hindsight},
                    barred_cell(money_cell(score.cost.micro_usd), share_of(score.cost.micro_usd, most_micro_usd)),
                    ratio_cell(score, comparison),
                    against_on_demand_cell(score, comparison),
                    count_cell(std::ssize(score.coverage.purchases())),
                    bought_cell(score, comparison.plans),
                    count_cell(score.cost.unused_unit_hours),
                    money_cell(purchase::regret_max_micro_usd(score))},
          .is_ours = score.policy == CommitPolicy::kBerth};
}

}  // namespace

FigureTable commit_figures(const CommitComparison& comparison) {
  std::int64_t most = 0;
  for (const CommitScore& score : comparison.scores) most = std::max(most, score.cost.micro_usd);
  FigureTable table{.columns = {{.key = "policy", .heading = "policy", .label = "Policy"},
                                {.key = "hindsight"},
                                {.key = "micro_usd", .heading = "cost", .label = "Cost"},
                                {.key = "ratio", .heading = "of optimal", .label = "Of the optimum"},
                                {.label = "Against on demand"},
                                {.label = "Purchases"},
                                {.key = "bought", .heading = "units", .label = "Units bought"},
                                {.key = "unused_unit_hours", .heading = "unused hours", .label = "Unused unit-hours"},
                                {.heading = "most at stake", .label = "Most at stake"}},
                    .rows = {}};
  for (const CommitScore& score : comparison.scores) table.rows.push_back(commit_row(score, comparison, most));
  return table;
}

}  // namespace berth::figures
