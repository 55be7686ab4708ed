#include "surface/pages/case_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/core/figure_text.h"
#include "sim/study/case_words.h"
#include "surface/pages/case_charts.h"
#include "surface/pages/case_courses.h"
#include "surface/pages/chart.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char case_html_begin[];
extern const char case_html_end[];
}

namespace berth::report {
namespace {

using study::CaseResult;
using study::CaseStep;

std::string case_facts(const CaseResult& result) {
  std::string facts =
      fact("Scenario", result.scenario) + fact("GPU model", result.gpu_model) +
      fact("Simulated", with_separators(result.simulated_seconds) + " s") +
      fact("Share in time, of each service", (result.options.attainment * Decimal(100)).to_string() + " %") +
      fact("A GPU is there after", with_separators(result.provision_seconds) + " s") +
      fact("Price", fmt::format("${} an hour", result.usd_per_gpu_hour.to_string()));
  if (const auto committed = result.options.committed_micro_usd_per_gpu_hour) {
    facts += fact("Committed", dollars(*committed) + " an hour");
  }
  return facts + fact("Age of the prices", "not known: as given") +
         fact("Seed", fmt::format("{}", result.options.seed));
}

std::string case_small_mark(const CaseResult& result) {
  const std::string words = study::case_small_words(result);
  return words.empty() ? "" : fmt::format("<p class=\"remark\">{}</p>\n", html_escaped(words));
}

template <class T, class Format>
std::string cell_or_absent(const std::optional<T>& value, Format format) {
  return value ? format(*value) : std::string(kAbsentCell);
}

/// "62.1 %"; "−3.0 %".
std::string saving_cell(const std::optional<double>& saves) {
  return cell_or_absent(saves, [](double share) {
    const std::string text = fmt::format("{:.1f} %", std::abs(share) * 100);
    return (share < 0 && text != "0.0 %" ? "−" : "") + text;
  });
}

std::string case_row(const CaseStep& step, std::int64_t most_micro_usd) {
  const std::string head = fmt::format(R"(<tr{}><th scope="row">{}</th>)", is_ours(step) ? R"( class="ours")" : "",
                                       html_escaped(case_step_title(step)));
  if (step.infeasible) {
    return fmt::format("{}<td class=\"infeasible\" colspan=\"9\">no such step: {}</td></tr>\n", head,
                       html_escaped(*step.infeasible));
  }
  const double share =
      most_micro_usd > 0 ? static_cast<double>(step.cost_micro_usd) / static_cast<double>(most_micro_usd) : 0;
  return head + table_cell("Cost", barred(dollars(step.cost_micro_usd), share)) +
         table_cell("Saves of whole-peak", saving_cell(step.saves_of_first)) +
         table_cell("Saves of whole-tracking", saving_cell(step.saves_of_second)) +
         table_cell("Per million in time", cell_or_absent(step.cost_micro_usd_per_million_in_time, dollars)) +
         table_cell("GPUs, mean", fmt::format("{:.2f}", step.gpus_mean)) +
         table_cell("GPUs, most", with_separators(step.gpus_max)) +
         table_cell("Worst service", cell_or_absent(step.slo_attainment_worst_service, study::floored_share)) +
         table_cell("Holds", step.holds ? "yes" : "<b class=\"not\">no</b>") +
         table_cell("SM-time", utilisation_funnel(step.utilisation)) + "</tr>\n";
}

std::string case_rows(const CaseResult& result) {
  std::int64_t most = 0;
  for (const CaseStep& step : result.steps) most = std::max(most, step.cost_micro_usd);
  std::string rows;
  for (const CaseStep& step : result.steps) rows += case_row(step, most);
  return rows;
}

std::string case_columns() {
  std::string columns;
  for (const std::string_view name :
       {"Step", "Cost", "<span>Saves of<br>whole-peak</span>", "<span>Saves of<br>whole-tracking</span>",
        "<span>Per million in time</span>", "<span>GPUs, mean</span>", "<span>GPUs, most</span>", "Worst service",
        "Holds", "<span>SM-time: allocated › busy › effective</span>"}) {
    columns += column_head(name);
  }
  return columns;
}

/// Remarks on each step: counts, settings.
std::string case_remarks(const CaseResult& result) {
  std::string lines;
  for (const CaseStep& step : result.steps) {
    if (step.infeasible || step.how.empty()) continue;
    lines += fmt::format("<p><b>{}</b> {}</p>\n", html_escaped(step.name), html_escaped(step.how));
  }
  return lines;
}

}  // namespace

std::string render_case_report(const Scenario& scenario, const CaseResult& result) {
  return fill_page(embedded(case_html_begin, case_html_end), {{"title", html_escaped(result.scenario)},
                                                              {"headline", html_escaped(study::case_verdict(result))},
                                                              {"small", case_small_mark(result)},
                                                              {"facts", case_facts(result)},
                                                              {"assumed", html_escaped(study::case_assumption(result))},
                                                              {"waterfall_key", waterfall_key()},
                                                              {"waterfall", waterfall_figure(result)},
                                                              {"columns", case_columns()},
                                                              {"rows", case_rows(result)},
                                                              {"remarks", case_remarks(result)},
                                                              {"time_key", gpu_time_key()},
                                                              {"time", gpu_time_figure(result)},
                                                              {"counts", gpu_count_figure(result)},
                                                              {"load_key", load_key()},
                                                              {"loads", load_figures(scenario, result)}});
}

}  // namespace berth::report
