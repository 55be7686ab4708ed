#include "surface/pages/spot_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "base/core/figure_text.h"
#include "purchase/spot/verdict.h"
#include "surface/figures/spot_figures.h"
#include "surface/pages/chart.h"
#include "surface/pages/figure_html.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"
#include "surface/pages/spot_points.h"
#include "surface/pages/spot_strip.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char spot_html_begin[];
extern const char spot_html_end[];
}

namespace berth::report {
namespace {

using purchase::SpotPolicy;
using purchase::SpotScore;
using purchase::SpotStudy;

constexpr std::size_t kGroupRowsMax = 60;

std::string hours_list(const std::vector<std::int64_t>& seconds) {
  std::string text;
  for (const std::int64_t each : seconds) text += (text.empty() ? "" : ", ") + purchase::hours_text(each);
  return text + " h";
}

/// "12 windows of 3 series".
std::string windows_words(const SpotStudy& study) {
  std::set<std::string_view> series;
  for (const purchase::Market& market : study.markets) series.insert(market.series.begin(), market.series.end());
  const std::string counted = with_separators(std::ssize(study.markets));
  if (study.markets.front().is_joined) return fmt::format("{}, {} zones each as one market", counted, series.size());
  return fmt::format("{} of {} series", counted, series.size());
}

std::string spot_facts(const std::string& windows, const SpotStudy& study) {
  return fact("File", windows) + fact("Windows", windows_words(study)) +
         fact("Work", purchase::hours_text(study.task_seconds) + " h") +
         fact("Deadlines", hours_list(study.deadlines)) + fact("Restarts take", hours_list(study.restarts)) +
         fact("On demand", dollars(study.prices.on_demand_micro_usd) + " an hour") +
         fact("Spot", dollars(study.prices.spot_micro_usd) + " an hour") +
         fact("Age of the prices", "not known: as given");
}

std::string spot_headline(const SpotStudy& study, const std::vector<SpotScore>& scores) {
  std::string words = purchase::spot_verdict(scores);
  if (!words.empty()) return words;
  const auto best = std::ranges::min_element(
      scores, {}, [](const SpotScore& score) -> const Decimal& { return score.totals.micro_usd; });
  return fmt::format("{} windows: {} pays least, {} a run{}.", with_separators(std::ssize(study.markets)),
                     purchase::name_of(best->policy), purchase::usd_text(best->totals.average_usd()),
                     purchase::has_hindsight(best->policy) ? ", in hindsight" : "");
}

std::string policy_label(const SpotScore& score) {
  return fmt::format("{}{}", purchase::name_of(score.policy), purchase::has_hindsight(score.policy) ? " *" : "");
}

/// The means for one deadline and restart; the lowest one without hindsight is marked.
std::string group_row(const std::vector<SpotScore>& scores, std::size_t group) {
  const purchase::SpotGroup& first = scores.front().groups[group];
  std::optional<Decimal> least;
  for (const SpotScore& score : scores) {
    if (purchase::has_hindsight(score.policy)) continue;
    const Decimal mean = score.groups[group].totals.average_usd();
    least = least ? std::min(*least, mean) : mean;
  }
  std::string row = fmt::format(R"(<tr><th scope="row">{} h, {} h</th>)", purchase::hours_text(first.deadline_seconds),
                                purchase::hours_text(first.restart_seconds));
  for (const SpotScore& score : scores) {
    const Decimal mean = score.groups[group].totals.average_usd();
    const bool is_least = !purchase::has_hindsight(score.policy) && mean == *least;
    row += fmt::format(R"(<td{} data-label="{}">{}</td>)", is_least ? R"( class="least")" : "", policy_label(score),
                       purchase::usd_text(mean));
  }
  return row + "</tr>\n";
}

/// The means by deadline and restart, if there are several.
std::string group_table(const std::vector<SpotScore>& scores) {
  const std::size_t groups = scores.front().groups.size();
  if (groups < 2) return "";
  std::string head = column_head("Deadline, restart");
  for (const SpotScore& score : scores) {
    head += column_head(policy_label(score));
  }
  std::string rows;
  for (std::size_t group = 0; group < std::min(groups, kGroupRowsMax); ++group) rows += group_row(scores, group);
  const std::string note =
      groups > kGroupRowsMax
          ? fmt::format("<p class=\"note\">The first {} of {} pairs; the answer as JSON has all.</p>\n", kGroupRowsMax,
                        groups)
          : "";
  return fmt::format(
      "<div class=\"scroll\"><table class=\"pairs\">\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n"
      "</table></div>\n{}",
      head, rows, note);
}

std::string strips_lead(const std::vector<SpotStripRun>& chosen) {
  return fmt::format(
      "{} Above: when spot was available, with its share of the time. Below: what each policy held. The height of a "
      "bar is the "
      "price per hour, so its area is the cost.",
      chosen.size() > 1 ? "The runs in which berth and its best rival without hindsight differ most, one each way."
                        : "The run that is described beside its name.");
}

}  // namespace

std::string render_spot_report(const std::string& windows, const SpotStudy& study,
                               const std::vector<SpotScore>& scores) {
  const std::vector<SpotStripRun> chosen = chosen_spot_runs(scores);
  std::string strips;
  for (const SpotStripRun& run : chosen) strips += spot_strip_figure(study, scores, run);
  const figures::FigureTable table = figures::spot_figures(scores, study);
  return fill_page(embedded(spot_html_begin, spot_html_end),
                   {{"title", html_escaped(windows)},
                    {"headline", html_escaped(spot_headline(study, scores))},
                    {"facts", spot_facts(windows, study)},
                    {"assumed", html_escaped(purchase::spot_assumption(study))},
                    {"columns", figure_heads(table)},
                    {"rows", figure_rows(table)},
                    {"groups", group_table(scores)},
                    {"runs_lead", spot_points_lead(study, scores)},
                    {"runs", spot_points_figure(study, scores)},
                    {"strips_lead", strips_lead(chosen)},
                    {"key", spot_strip_key(study, scores)},
                    {"strips", strips}});
}

}  // namespace berth::report
