#include "surface/pages/place_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/core/figure_text.h"
#include "scheduling/placement/verdict.h"
#include "surface/figures/place_figures.h"
#include "surface/pages/chart.h"
#include "surface/pages/figure_html.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"
#include "surface/pages/place_courses.h"
#include "surface/pages/place_idle.h"
#include "surface/pages/place_map.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char place_html_begin[];
extern const char place_html_end[];
}

namespace berth::report {
namespace {

using placement::ArrivalOrder;
using placement::StudyPage;

std::string seeds_text(const std::vector<std::uint64_t>& seeds) {
  if (seeds.size() == 1) return fmt::format("1, seed {}", seeds.front());
  const auto [least, most] = std::ranges::minmax(seeds);
  return fmt::format("{} for each policy, seeds {} to {}", seeds.size(), least, most);
}

std::string slice_facts(const StudyPage& page) {
  std::vector<std::string> names;
  names.reserve(page.problem.cuts.size());
  for (const placement::Cut& cut : page.problem.cuts) names.push_back(cut.model.name);
  std::string facts = fact("Partitioned", fmt::format("{}", fmt::join(names, ", ")));
  if (page.options.moves_max == 0) return facts;
  return facts + fact("Slices that berth may move", fmt::format("{} for an arrival", page.options.moves_max));
}

std::string place_facts(const StudyPage& page) {
  const placement::Problem& problem = page.problem;
  std::string facts =
      fact("Nodes", fmt::format("{} from {}", with_separators(std::ssize(problem.nodes)), page.nodes_name)) +
      fact("GPUs", with_separators(problem.gpu_count)) +
      fact("Pods", fmt::format("{} from {}", with_separators(std::ssize(problem.pod_names)), page.pods_name));
  if (problem.has_cuts()) facts += slice_facts(page);
  switch (page.options.order) {
    case ArrivalOrder::kGiven:
      return facts + fact("Order", "as in the files, one run");
    case ArrivalOrder::kSeeded:
      facts += fact("Demand", fmt::format("up to {} × the GPUs", page.options.demand.to_string()));
      break;
    case ArrivalOrder::kChurn:
      facts += fact("Demand", fmt::format("{} × the GPUs on average, pods leave", page.options.demand.to_string())) +
               fact("Mean stay M", fmt::format("{:.1f} arrivals", page.record.axis.mean_stay));
      break;
  }
  return facts + fact("Runs", seeds_text(page.options.seeds));
}

std::string figures_lead(const StudyPage& page) {
  const bool has_runs = page.options.order != ArrivalOrder::kGiven && page.options.seeds.size() > 1;
  std::string text = "In percent of all GPUs";
  if (has_runs) text += ", mean ± standard deviation over the runs";
  if (!page.problem.has_cuts()) text += ". Fragmented: free, but of no use to the most frequent pods";
  if (page.problem.has_cuts()) text += ". Units: what slices and whole GPUs take, beside what was asked for";
  return text + ". Failed: pods that fitted nowhere when they came.";
}

std::string course_lead(const StudyPage& page) {
  if (page.record.asked.rows_with_gpus == 0) {
    return "No pod of the list asks for a GPU: every policy leaves all GPUs idle.";
  }
  const bool is_churning = page.record.axis.is_churning;
  std::string text =
      is_churning ? "Pods come and go; with a demand above what the GPUs can hold they stay full. "
                  : "Each pod that arrives adds to the demand. The dashed line is what is asked for, at most all "
                    "GPUs: what lies below it is lost to pods that fit nowhere. ";
  if (page.options.order == ArrivalOrder::kGiven) return text + "One run in the order of the files.";
  if (page.options.seeds.size() == 1) return text + "One run for each policy.";
  return text + fmt::format("Lines are means over {} runs, bands go from their least to their most.",
                            page.options.seeds.size());
}

std::string idle_lead(const StudyPage& page) {
  const placement::AskedRows& asked = page.record.asked;
  std::string text =
      "Imagine that a pod of the list arrives behind the last decision. For every idle part of a GPU, this is what "
      "keeps it from being used, averaged over ";
  if (asked.rows_with_gpus == 1) {
    text += "the one row that asks for GPUs";
  } else if (asked.rows == asked.rows_with_gpus) {
    text += fmt::format("the {} rows that ask for GPUs", with_separators(asked.rows));
  } else {
    text += fmt::format("the most frequent kinds of pods with GPUs ({} of {} rows)", with_separators(asked.rows),
                        with_separators(asked.rows_with_gpus));
  }
  if (page.options.order != ArrivalOrder::kGiven && page.options.seeds.size() > 1) text += " and over the runs";
  text += ". Each part counts in one cause; they add up to all that is idle.";
  if (!page.problem.has_cuts()) return text;
  return text +
         " On GPUs with slices the units are counted: a slice that is larger than what its pod asked for leaves less "
         "idle "
         "than is missing above.";
}

std::string idle_section(const StudyPage& page) {
  if (page.record.asked.rows_with_gpus == 0) return "";
  return "<section aria-labelledby=\"h-idle\">\n  <h2 id=\"h-idle\">What the idle GPUs are stuck in</h2>\n"
         "  <p class=\"lead\">" +
         idle_lead(page) + "</p>\n" + idle_figure(page) + "\n" + idle_table(page) + "\n  <dl class=\"terms\">\n" +
         idle_terms(page) + "</dl>\n</section>\n";
}

std::string map_lead(const StudyPage& page) {
  if (page.problem.gpu_count > placement::kEndGpusMax) {
    return fmt::format(
        "The GPUs of each model by how much of them is used. {} GPUs are too many to be drawn one by one.",
        with_separators(page.problem.gpu_count));
  }
  std::string text =
      "Every GPU is a cell, those of a node stand one above the other, and a node has the same place in each map.";
  return page.problem.has_cuts() ? text + " Of GPUs with slices the units that they take count as used." : text;
}

}  // namespace

std::string render_place_report(const StudyPage& page) {
  const figures::FigureTable table = figures::place_figures(page.problem, page.results);
  return fill_page(embedded(place_html_begin, place_html_end),
                   {{"title", html_escaped(page.pods_name)},
                    {"headline", html_escaped(placement::placement_verdict(page.results))},
                    {"facts", place_facts(page)},
                    {"columns", figure_heads(table)},
                    {"rows", figure_rows(table)},
                    {"figures_lead", figures_lead(page)},
                    {"course_lead", course_lead(page)},
                    {"courses", course_figures(page)},
                    {"idle", idle_section(page)},
                    {"map_lead", map_lead(page)},
                    {"maps", map_figures(page)}});
}

}  // namespace berth::report
