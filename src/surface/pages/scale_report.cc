#include "surface/pages/scale_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "base/core/figure_text.h"
#include "base/core/sort_stably.h"
#include "surface/figures/scale_figures.h"
#include "surface/pages/chart.h"
#include "surface/pages/figure_html.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"
#include "surface/pages/scale_charts.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char scale_html_begin[];
extern const char scale_html_end[];
}

namespace berth::report {
namespace {

using scale::Comparison;
using scale::WantChange;

std::string scale_facts(const Comparison& comparison) {
  const scale::Problem& problem = comparison.problem;
  const scale::Load& load = problem.load;
  std::string facts =
      fact("Trace", comparison.trace_name) +
      fact("Seconds", fmt::format("{} to {}", load.from_second, load.from_second + load.seconds() - 1)) +
      fact("Requests", with_separators(problem.requests())) +
      fact("A replica serves",
           Decimal(problem.rate.numerator(), problem.rate.denominator()).to_string() + " a second") +
      fact("Starts in", fmt::format("{} s", with_separators(problem.start_seconds))) +
      fact("A request waits", fmt::format("at most {} s", with_separators(problem.wait_seconds))) +
      fact("Wanted in time", (problem.attainment * Decimal(100)).to_string() + " %");
  if (!comparison.micro_usd_per_replica_hour) return facts;
  return facts + fact("Price", dollars(*comparison.micro_usd_per_replica_hour) + " a replica-hour, as given");
}

/// `berth` and `tuned`; if one was not run, the first other result instead.
std::vector<const scale::PolicyResult*> shown_results(const Comparison& comparison) {
  std::vector<const scale::PolicyResult*> shown;
  const auto show = [&shown](const scale::PolicyResult* result) {
    constexpr std::size_t kShown = 2;
    const bool is_new = result != nullptr && std::ranges::find(shown, result) == shown.end();
    if (is_new && shown.size() < kShown) shown.push_back(result);
  };
  show(comparison.result_of(scale::Policy::kBerth));
  show(comparison.result_of(scale::Policy::kTuned));
  for (const scale::PolicyResult& result : comparison.results) show(&result);
  return shown;
}

constexpr std::int64_t kCloseSeconds = 3600;

/// The hour around the second with the most arrivals.
ScaleSpan busiest_span(const scale::Load& load) {
  const auto run = load.counts.subspan(static_cast<std::size_t>(load.from_second));
  const std::int64_t busiest = std::ranges::max_element(run) - run.begin();
  const std::int64_t from = std::clamp<std::int64_t>(busiest - kCloseSeconds / 2, 0, load.seconds() - kCloseSeconds);
  return {.from_second = from, .seconds = kCloseSeconds};
}

/// The section of the busiest hour; empty if the run is short enough to show single starts.
std::string close_section(const Comparison& comparison) {
  const scale::Load& load = comparison.problem.load;
  if (load.seconds() < 2 * kCloseSeconds) return "";
  return fmt::format(
      "<section aria-labelledby=\"h-close\">\n  <h2 id=\"h-close\">The busiest hour</h2>\n"
      "  <p class=\"lead\">The same around the second with most arrivals, where single starts can be seen. The time is "
      "that "
      "of the run.</p>\n{}\n{}</section>\n",
      scale_key(), scale_figures(comparison, shown_results(comparison), busiest_span(load)));
}

/// The changes with the largest steps, in order of time.
std::vector<std::size_t> largest_changes(const scale::PolicyResult& result) {
  const auto& changes = result.changes;
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < changes.size(); ++i) {
    if (changes[i].reason) order.push_back(i);
  }
  const auto step = [&](std::size_t i) { return std::abs(changes[i].want - changes[i - 1].want); };
  sort_stably(order, step, std::greater<>());
  order.resize(std::min(order.size(), kReasonRowsMax));
  std::ranges::sort(order);
  return order;
}

std::string reason_row(const scale::PolicyResult& result, std::size_t index) {
  const WantChange& change = result.changes[index];
  return fmt::format(R"(<tr><th scope="row">{}</th>)", with_separators(change.second)) +
         table_cell("From", with_separators(result.changes[index - 1].want)) +
         table_cell("To", with_separators(change.want)) +
         table_cell("Forecast, a second", significant(change.reason->forecast)) +
         table_cell("Margin, a second", significant(change.reason->margin)) +
         table_cell("Errors covered", percent(change.reason->quantile)) + "</tr>\n";
}

std::string reasons_section(const Comparison& comparison) {
  const scale::PolicyResult* ours = comparison.result_of(scale::Policy::kBerth);
  if (ours == nullptr) return "";
  const std::vector<std::size_t> chosen = largest_changes(*ours);
  if (chosen.empty()) return "";
  std::string rows;
  for (const std::size_t index : chosen) rows += reason_row(*ours, index);
  std::string head;
  for (const std::string_view name :
       {"Second", "From", "To", "Forecast, a second", "Margin, a second", "Errors covered"}) {
    head += column_head(name);
  }
  return fmt::format(
      "<section aria-labelledby=\"h-reasons\">\n  <h2 id=\"h-reasons\">Why berth scaled</h2>\n"
      "  <p class=\"lead\">The {} largest of its {} changes: the load that it forecast for when a replica is ready, "
      "and the "
      "margin on top, which covers that share of the errors of such forecasts. A negative margin: the queue evens out "
      "enough.</p>\n"
      "  <div class=\"scroll\"><table>\n  <thead><tr>{}</tr></thead>\n  <tbody>\n{}</tbody>\n  "
      "</table></div>\n</section>\n",
      chosen.size(), with_separators(std::ssize(ours->changes) - 1), head, rows);
}

}  // namespace

std::string render_scale_report(const Comparison& comparison) {
  const scale::Load& load = comparison.problem.load;
  const figures::FigureTable table = figures::scale_figures(comparison);
  return fill_page(
      embedded(scale_html_begin, scale_html_end),
      {{"title", html_escaped(comparison.trace_name)},
       {"headline", html_escaped(scale::scale_verdict(comparison))},
       {"facts", scale_facts(comparison)},
       {"assumed", html_escaped(scale::scale_assumption(comparison))},
       {"columns", figure_heads(table)},
       {"rows", figure_rows(table)},
       {"key", scale_key()},
       {"whole", scale_figures(comparison, shown_results(comparison), {.from_second = 0, .seconds = load.seconds()})},
       {"close", close_section(comparison)},
       {"reasons", reasons_section(comparison)}});
}

}  // namespace berth::report
