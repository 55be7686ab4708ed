#include "surface/figures/advise_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/figure_text.h"
#include "purchase/advise/offer_totals.h"
#include "surface/figures/markup.h"

namespace berth::figures {
namespace {

using purchase::advise::Advice;
using purchase::advise::AdviceCase;
using purchase::advise::OfferTotals;
using purchase::advise::Rival;

/// The taken share of all instances of an offer.
Cell taken_cell(std::int64_t taken, std::int64_t each, std::int64_t instances) {
  if (each == 0) return {};
  const double share = static_cast<double>(taken) / (static_cast<double>(each) * static_cast<double>(instances));
  return {.text = fmt::format("{:.0f}%", 100 * static_cast<double>(taken) / static_cast<double>(each * instances)),
          .markup = fmt::format("{:.0f} %", share * 100),
          .share = share};
}

/// On the page, with the offer below the number.
Cell instances_cell(const OfferTotals& totals) {
  const pricing::OfferKey& key = totals.offer->key;
  return {.text = fmt::format("{} x {}", totals.instances, key.instance_type),
          .markup = fmt::format("{} × {}<br><small>{}, {}, {}</small>", with_separators(totals.instances),
                                html_escaped(key.instance_type), html_escaped(key.provider), html_escaped(key.region),
                                pricing::name_of(key.purchase))};
}

Row offer_row(const OfferTotals& totals, Date at) {
  const pricing::Offer& offer = *totals.offer;
  const auto& shape = offer.shape;
  return {.cells = {instances_cell(totals),
                    {.text = offer.key.provider},
                    {.text = offer.key.region},
                    {.text = std::string(pricing::name_of(offer.key.purchase))},
                    {.text = fmt::format("{} x {}", shape.gpu_count, shape.gpu_model),
                     .markup = fmt::format("{} × {}", shape.gpu_count, html_escaped(shape.gpu_model))},
                    money_cell(offer.micro_usd_per_hour.value_or(0)),  // a bought offer has a price
                    money_cell(totals.micro_usd_per_hour()),
                    count_cell(totals.pods),
                    taken_cell(totals.gpu_milli, std::int64_t{shape.gpu_count} * 1000, totals.instances),
                    taken_cell(totals.cpu_milli, shape.vcpu_milli, totals.instances),
                    taken_cell(totals.memory_mib, shape.memory_mib, totals.instances),
                    {.text = fmt::format("{} d", at.days() - offer.validity.from.days())}}};
}

}  // namespace

FigureTable advise_costs(const Advice& advice) {
  const std::int64_t bound = advice.bound_micro_usd_per_hour;
  std::int64_t most = std::max(advice.micro_usd_per_hour, bound);
  for (const Rival& rival : advice.rivals) most = std::max(most, rival.micro_usd_per_hour);
  const auto cells = [&](Cell name, std::int64_t micro_usd) -> std::vector<Cell> {
    const bool has_ratio = bound > 0;
    return {std::move(name), barred_cell(money_cell(micro_usd), share_of(micro_usd, most)),
            has_ratio ? Cell{.text = fmt::format("{:.3f}", share_of(micro_usd, bound))} : Cell{}};
  };
  FigureTable table{.columns = {{.key = "name", .heading = "together", .label = "Together"},
                                {.key = "micro_usd_per_hour", .heading = "per hour", .label = "Cost an hour"},
                                {.heading = "of bound", .label = "Of the bound"}},
                    .rows = {{.cells = cells(name_cell("berth", false), advice.micro_usd_per_hour),
                              .is_ours = true,
                              .is_only_for_people = true}}};
  for (const Rival& rival : advice.rivals) {
    table.rows.push_back({.cells = cells(name_cell(rival.name, false), rival.micro_usd_per_hour)});
  }
  table.rows.push_back(
      {.cells = cells({.text = "bound (proven)", .markup = "bound, proven"}, bound), .is_only_for_people = true});
  return table;
}

FigureTable advise_offers(const AdviceCase& advice_case) {
  FigureTable table{.columns = {{.heading = "instances", .label = "Instances"},
                                {.heading = "provider"},
                                {.heading = "region"},
                                {.heading = "purchase"},
                                {.heading = "GPUs each", .label = "GPUs each"},
                                {.heading = "each per hour", .label = "Each an hour"},
                                {.heading = "per hour", .label = "An hour"},
                                {.heading = "pods", .label = "Pods"},
                                {.heading = "GPU", .label = "GPU taken"},
                                {.heading = "CPU", .label = "CPU taken"},
                                {.heading = "memory", .label = "Memory taken"},
                                {.heading = "price age", .label = "Age of the price"}},
                    .rows = {}};
  for (const OfferTotals& totals : purchase::advise::totals_by_offer(advice_case.advice, advice_case.pods)) {
    table.rows.push_back(offer_row(totals, advice_case.at));
  }
  return table;
}

}  // namespace berth::figures
