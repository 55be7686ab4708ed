#include "surface/pages/warm_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/core/figure_text.h"
#include "serving/warm_study/verdict.h"
#include "surface/figures/warm_figures.h"
#include "surface/pages/figure_html.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"
#include "surface/pages/warm_charts.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char warm_html_begin[];
extern const char warm_html_end[];
}

namespace berth::report {
namespace {

std::string warm_facts(std::string_view trace_name, const warm::Problem& problem) {
  std::int64_t invocations = 0;
  for (const AppCounts& app : problem.trace->apps) invocations += app.invocations;
  std::string facts =
      fact("Trace", std::string(trace_name)) + fact("Apps", with_separators(std::ssize(problem.trace->apps))) +
      fact("Invocations", with_separators(invocations)) + fact("Minutes", with_separators(problem.trace->minutes));
  if (problem.memory) return facts + fact("Memory", with_separators(problem.memory->mib) + " MiB");
  facts += fact("A cold start is worth", fmt::format("{} idle minutes", problem.prices.cold_minutes)) +
           fact("An app loads in", fmt::format("{} s", problem.prices.load_seconds));
  if (!problem.prices.micro_usd_per_idle_hour) return facts;
  return facts + fact("An idle hour costs", dollars(*problem.prices.micro_usd_per_idle_hour));
}

std::string warm_charts_section(const warm::Problem& problem, const std::vector<warm::PolicyResult>& results) {
  const std::string figures = warm_share_figures(problem, results);
  if (figures.empty()) return "";
  return fmt::format(
      "<section aria-labelledby=\"h-shares\">\n  <h2 id=\"h-shares\">Cold share against idle time</h2>\n"
      "  <p class=\"lead\">Each point is a policy. The line joins berth at several prices of a cold start.</p>\n"
      "{}</section>\n",
      figures);
}

/// Ours; if it was not run, the only policy.
const warm::PolicyResult* result_with_strip(const std::vector<warm::PolicyResult>& results) {
  const auto found = std::ranges::find_if(results, [](const warm::PolicyResult& each) { return !each.loaded.empty(); });
  return found == results.end() ? nullptr : &*found;
}

std::string warm_strip_section(const warm::Problem& problem, const std::vector<warm::PolicyResult>& results) {
  const warm::PolicyResult* result = result_with_strip(results);
  const auto app = result == nullptr ? std::nullopt : shown_app(problem, *result);
  if (!app) return "";
  return fmt::format(
      "<section aria-labelledby=\"h-strip\">\n  <h2 id=\"h-strip\">One app, minute by minute</h2>\n"
      "  <p class=\"lead\">The app in which {} met most invocations after a pause of five minutes or more.</p>\n"
      "{}\n{}</section>\n",
      result->policy.name, warm_strip_key(), warm_strip_figure(problem, *result, *app));
}

}  // namespace

std::string render_warm_report(std::string_view trace_name, const warm::Problem& problem,
                               const std::vector<warm::PolicyResult>& results) {
  const figures::FigureTable table = figures::warm_figures(problem, results);
  return fill_page(embedded(warm_html_begin, warm_html_end),
                   {{"title", html_escaped(trace_name)},
                    {"headline", html_escaped(warm::warm_verdict(problem, results))},
                    {"facts", warm_facts(trace_name, problem)},
                    {"assumed", html_escaped(warm::warm_assumption())},
                    {"columns", figure_heads(table)},
                    {"rows", figure_rows(table)},
                    {"charts", warm_charts_section(problem, results)},
                    {"strip", warm_strip_section(problem, results)}});
}

}  // namespace berth::report
