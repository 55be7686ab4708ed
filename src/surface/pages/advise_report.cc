#include "surface/pages/advise_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/core/figure_text.h"
#include "purchase/advise/offer_totals.h"
#include "surface/pages/chart.h"
#include "surface/pages/instance_boxes.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"

// The page's parts, put in by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char advise_html_begin[];
extern const char advise_html_end[];
}

namespace berth::report {
namespace {

using purchase::advise::Advice;
using purchase::advise::AdviceCase;
using purchase::advise::OfferTotals;

std::string advise_facts(const AdviceCase& advice_case) {
  const Advice& advice = advice_case.advice;
  return fact("Pods", fmt::format("{} of {}", with_separators(std::ssize(advice_case.pods)), advice_case.pods_name)) +
         fact("Instances", with_separators(std::ssize(advice.instances))) +
         fact("Cost", dollars(advice.micro_usd_per_hour) + " an hour") +
         fact("No instances cost less than", fmt::format("{} an hour ({})", dollars(advice.bound_micro_usd_per_hour),
                                                         advice.is_proven() ? "met: proven" : "a gap remains")) +
         fact("Prices as of", advice_case.at.to_string()) + fact("Nodes searched", with_separators(advice.nodes));
}

struct NamedCost {
  std::string name;
  std::int64_t micro_usd = 0;
  bool is_ours = false;
};

std::string cost_rows(const Advice& advice) {
  std::vector<NamedCost> costs = {{.name = "berth", .micro_usd = advice.micro_usd_per_hour, .is_ours = true}};
  for (const purchase::advise::Rival& rival : advice.rivals) {
    costs.push_back({.name = rival.name, .micro_usd = rival.micro_usd_per_hour});
  }
  costs.push_back({.name = "bound, proven", .micro_usd = advice.bound_micro_usd_per_hour});
  const std::int64_t most = std::ranges::max_element(costs, {}, &NamedCost::micro_usd)->micro_usd;
  const auto ratio = [](std::int64_t part, std::int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  std::string rows;
  for (const NamedCost& cost : costs) {
    rows +=
        fmt::format(R"(<tr{}><th scope="row">{}</th>)", cost.is_ours ? R"( class="ours")" : "",
                    html_escaped(cost.name)) +
        table_cell("Cost an hour", barred(dollars(cost.micro_usd), most > 0 ? ratio(cost.micro_usd, most) : 0)) +
        table_cell("Of the bound", advice.bound_micro_usd_per_hour > 0
                                       ? fmt::format("{:.3f}", ratio(cost.micro_usd, advice.bound_micro_usd_per_hour))
                                       : std::string(kAbsentCell)) +
        "</tr>\n";
  }
  return rows;
}

/// A share of all instances of an offer.
std::string taken_cell(std::string_view label, std::int64_t taken, std::int64_t each, std::int64_t instances) {
  if (each == 0) return table_cell(label, kAbsentCell);
  const double share = static_cast<double>(taken) / (static_cast<double>(each) * static_cast<double>(instances));
  return table_cell(label, barred(fmt::format("{:.0f} %", share * 100), share));
}

std::string offer_row(const OfferTotals& totals, Date at) {
  const pricing::Offer& offer = *totals.offer;
  return fmt::format(R"(<tr><th scope="row">{} × {}<br><small>{}, {}, {}</small></th>)",
                     with_separators(totals.instances), html_escaped(offer.key.instance_type),
                     html_escaped(offer.key.provider), html_escaped(offer.key.region),
                     pricing::name_of(offer.key.purchase)) +
         table_cell("GPUs each", fmt::format("{} × {}", offer.shape.gpu_count, html_escaped(offer.shape.gpu_model))) +
         table_cell("Each an hour", dollars(offer.micro_usd_per_hour.value_or(0))) +
         table_cell("An hour", dollars(totals.micro_usd_per_hour())) +
         table_cell("Pods", with_separators(totals.pods)) +
         taken_cell("GPU taken", totals.gpu_milli, std::int64_t{offer.shape.gpu_count} * 1000, totals.instances) +
         taken_cell("CPU taken", totals.cpu_milli, offer.shape.vcpu_milli, totals.instances) +
         taken_cell("Memory taken", totals.memory_mib, offer.shape.memory_mib, totals.instances) +
         table_cell("Age of the price", fmt::format("{} d", at.days() - offer.validity.from.days())) + "</tr>\n";
}

std::string offer_rows(const AdviceCase& advice_case) {
  std::string rows;
  for (const OfferTotals& totals : purchase::advise::totals_by_offer(advice_case.advice, advice_case.pods)) {
    rows += offer_row(totals, advice_case.at);
  }
  return rows;
}

std::string boxes_note(const AdviceCase& advice_case) {
  const std::size_t count = filling_count(advice_case);
  if (count <= kAdvicePicturesMax) return "";
  return fmt::format(" The first {} of {} pictures are drawn; the answer as JSON has all instances.",
                     kAdvicePicturesMax, with_separators(static_cast<std::int64_t>(count)));
}

}  // namespace

std::string render_advise_report(const AdviceCase& advice_case) {
  return fill_page(embedded(advise_html_begin, advise_html_end),
                   {{"title", html_escaped(advice_case.pods_name)},
                    {"headline", html_escaped(purchase::advise::advise_verdict(advice_case.advice))},
                    {"facts", advise_facts(advice_case)},
                    {"assumed", html_escaped(purchase::advise::advise_assumption(advice_case.advice, advice_case.at))},
                    {"costs", cost_rows(advice_case.advice)},
                    {"offers", offer_rows(advice_case)},
                    {"note", boxes_note(advice_case)},
                    {"key", pod_key(advice_case)},
                    {"boxes", instance_figures(advice_case)}});
}

}  // namespace berth::report
