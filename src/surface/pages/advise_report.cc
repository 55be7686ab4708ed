#include "surface/pages/advise_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/figures/advise_figures.h"
#include "surface/pages/chart.h"
#include "surface/pages/figure_html.h"
#include "surface/pages/instance_boxes.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char advise_html_begin[];
extern const char advise_html_end[];
}

namespace berth::report {
namespace {

using purchase::advise::Advice;
using purchase::advise::AdviceCase;

std::string advise_facts(const AdviceCase& advice_case) {
  const Advice& advice = advice_case.advice;
  return fact("Pods", fmt::format("{} of {}", with_separators(std::ssize(advice_case.pods)), advice_case.pods_name)) +
         fact("Instances", with_separators(std::ssize(advice.instances))) +
         fact("Cost", dollars(advice.micro_usd_per_hour) + " an hour") +
         fact("No instances cost less than", fmt::format("{} an hour ({})", dollars(advice.bound_micro_usd_per_hour),
                                                         advice.is_proven() ? "met: proven" : "a gap remains")) +
         fact("Prices as of", advice_case.at.to_string()) + fact("Nodes searched", with_separators(advice.nodes));
}

std::string boxes_note(const AdviceCase& advice_case) {
  const std::size_t count = filling_count(advice_case);
  if (count <= kAdvicePicturesMax) return "";
  return fmt::format(" The first {} of {} pictures are drawn; the answer as JSON has all instances.",
                     kAdvicePicturesMax, with_separators(static_cast<std::int64_t>(count)));
}

}  // namespace

std::string render_advise_report(const AdviceCase& advice_case) {
  const figures::FigureTable costs = figures::advise_costs(advice_case.advice);
  const figures::FigureTable offers = figures::advise_offers(advice_case);
  return fill_page(embedded(advise_html_begin, advise_html_end),
                   {{"title", html_escaped(advice_case.pods_name)},
                    {"headline", html_escaped(purchase::advise::advise_verdict(advice_case.advice))},
                    {"facts", advise_facts(advice_case)},
                    {"assumed", html_escaped(purchase::advise::advise_assumption(advice_case.advice, advice_case.at))},
                    {"cost_heads", figure_heads(costs)},
                    {"costs", figure_rows(costs)},
                    {"offer_heads", figure_heads(offers)},
                    {"offers", figure_rows(offers)},
                    {"note", boxes_note(advice_case)},
                    {"key", pod_key(advice_case)},
                    {"boxes", instance_figures(advice_case)}});
}

}  // namespace berth::report
