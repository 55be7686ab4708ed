#include "surface/pages/commit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/core/figure_text.h"
#include "purchase/commit/verdict.h"
#include "surface/figures/commit_figures.h"
#include "surface/pages/chart.h"
#include "surface/pages/commit_charts.h"
#include "surface/pages/figure_html.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char commit_html_begin[];
extern const char commit_html_end[];
}

namespace berth::report {
namespace {

using purchase::CommitComparison;
using purchase::CommitPolicy;
using purchase::CommitScore;

const CommitScore* commit_score_of(const CommitComparison& comparison, CommitPolicy policy) {
  const auto it = std::ranges::find(comparison.scores, policy, &CommitScore::policy);
  return it == comparison.scores.end() ? nullptr : &*it;
}

std::string mean_units_text(const purchase::HourlyDemand& demand) {
  std::int64_t sum = 0;
  for (const std::int64_t units : demand) sum += units;
  return with_digits(Decimal(sum, std::ssize(demand)), 1);
}

std::string commit_facts(const CommitComparison& comparison) {
  const auto& demand = comparison.demand;
  std::string facts = fact("Demand", comparison.demand_name + (comparison.is_reversed ? ", in reverse order" : "")) +
                      fact("Hours", with_separators(std::ssize(demand))) +
                      fact("Units", fmt::format("{} on average, at most {}", mean_units_text(demand),
                                                with_separators(std::ranges::max(demand)))) +
                      fact("On demand", fmt::format("{}, {} an hour", comparison.plans.on_demand_name,
                                                    dollars(comparison.plans.on_demand_micro_usd_per_hour)));
  for (const purchase::CommitPlan& plan : comparison.plans.committed) {
    facts += fact("Committed", fmt::format("{}, {} an hour for {} h", plan.name, dollars(plan.micro_usd_per_hour),
                                           with_separators(plan.term_hours)));
  }
  return facts + fact("Age of the prices", "not known: as in the file of plans");
}

std::string commit_headline(const CommitComparison& comparison) {
  std::string words = purchase::commit_verdict(comparison);
  if (!words.empty()) return words;
  const auto best =
      std::ranges::min_element(comparison.scores, {}, [](const CommitScore& score) { return score.cost.micro_usd; });
  return fmt::format("{} hours of demand: {} costs least{}, {}.", with_separators(std::ssize(comparison.demand)),
                     purchase::name_of(best->policy), purchase::has_hindsight(best->policy) ? ", in hindsight" : "",
                     dollars(best->cost.micro_usd));
}

/// Berth, the best rival without hindsight that buys something, and the optimum.
std::vector<const CommitScore*> covered_scores(const CommitComparison& comparison) {
  std::vector<const CommitScore*> shown;
  if (const CommitScore* ours = commit_score_of(comparison, CommitPolicy::kBerth)) shown.push_back(ours);
  const CommitScore* rival = nullptr;
  for (const CommitScore& score : comparison.scores) {
    const bool is_rival = score.policy != CommitPolicy::kBerth && !purchase::has_hindsight(score.policy) &&
                          !score.coverage.purchases().empty();
    if (is_rival && (rival == nullptr || score.cost.micro_usd < rival->cost.micro_usd)) rival = &score;
  }
  if (rival != nullptr) shown.push_back(rival);
  shown.push_back(&comparison.optimal);
  return shown;
}

std::string coverage_figures(const CommitComparison& comparison) {
  std::string figures;
  for (const CommitScore* score : covered_scores(comparison)) figures += coverage_figure(comparison, *score);
  return figures;
}

/// The purchases of `berth`, with what was still to be paid at their time.
std::string purchase_rows(const CommitComparison& comparison, const CommitScore& ours) {
  std::string rows;
  const auto& purchases = ours.coverage.purchases();
  for (std::size_t i = 0; i < std::min(purchases.size(), kPurchaseRowsMax); ++i) {
    const purchase::Purchase& each = purchases[i];
    const purchase::CommitPlan& plan = comparison.plans.committed[each.plan];
    rows += fmt::format(R"(<tr><th scope="row">{}</th>)", with_separators(each.hour)) +
            table_cell("Plan", html_escaped(plan.name)) + table_cell("Units", with_separators(each.units)) +
            table_cell("Until hour", with_separators(each.hour + plan.term_hours)) +
            table_cell("Active then", with_separators(ours.coverage.active(each.hour))) +
            table_cell("Needed then", with_separators(comparison.demand[static_cast<std::size_t>(each.hour)])) +
            table_cell("Still to be paid", dollars(ours.coverage.regret_micro_usd(each.hour))) + "</tr>\n";
  }
  return rows;
}

std::string purchases_section(const CommitComparison& comparison) {
  const CommitScore* ours = commit_score_of(comparison, CommitPolicy::kBerth);
  if (ours == nullptr || ours->coverage.purchases().empty()) return "";
  const std::size_t count = ours->coverage.purchases().size();
  std::string head;
  for (const std::string_view name :
       {"Hour", "Plan", "Units", "Until hour", "Active then", "Needed then", "Still to be paid"}) {
    head += column_head(name);
  }
  const std::string note = count > kPurchaseRowsMax
                               ? fmt::format("<p class=\"note\">The first {} of {}; the answer as JSON has all.</p>\n",
                                             kPurchaseRowsMax, with_separators(static_cast<std::int64_t>(count)))
                               : "";
  return fmt::format(
      "<section aria-labelledby=\"h-purchases\">\n  <h2 id=\"h-purchases\">What berth bought</h2>\n"
      "  <p class=\"lead\">Each purchase with the units that are active and needed in its hour. Still to be paid: what "
      "all "
      "active purchases cost from the next hour on, which is lost if demand stops.</p>\n"
      "  <div class=\"scroll\"><table>\n  <thead><tr>{}</tr></thead>\n  <tbody>\n{}</tbody>\n  "
      "</table></div>\n{}</section>\n",
      head, purchase_rows(comparison, *ours), note);
}

}  // namespace

std::string render_commit_report(const CommitComparison& comparison) {
  const figures::FigureTable table = figures::commit_figures(comparison);
  return fill_page(embedded(commit_html_begin, commit_html_end),
                   {{"title", html_escaped(comparison.demand_name)},
                    {"headline", html_escaped(commit_headline(comparison))},
                    {"facts", commit_facts(comparison)},
                    {"assumed", html_escaped(purchase::kCommitAssumption)},
                    {"columns", figure_heads(table)},
                    {"rows", figure_rows(table)},
                    {"key", coverage_key(comparison.plans)},
                    {"coverage", coverage_figures(comparison)},
                    {"excess", excess_figures(comparison)},
                    {"purchases", purchases_section(comparison)}});
}

}  // namespace berth::report
