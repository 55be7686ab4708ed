#include "surface/cli/advise/advise_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "purchase/advise/offer_totals.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using purchase::advise::Advice;
using purchase::advise::AdviceCase;
using purchase::advise::OfferTotals;
using purchase::advise::Rival;
using Row = std::vector<std::string>;

std::string share_text(std::int64_t used, std::int64_t each, std::int64_t instances) {
  if (each == 0) return std::string(kAbsentText);
  return fmt::format("{:.0f}%", 100 * static_cast<double>(used) / static_cast<double>(each * instances));
}

Row offer_row(const OfferTotals& totals, Date at) {
  const pricing::Offer& offer = *totals.offer;
  const std::int64_t price = offer.micro_usd_per_hour.value_or(0);  // what is bought has one
  return {fmt::format("{} x {}", totals.instances, offer.key.instance_type),
          offer.key.provider,
          offer.key.region,
          std::string(pricing::name_of(offer.key.purchase)),
          fmt::format("{} x {}", offer.shape.gpu_count, offer.shape.gpu_model),
          dollars(price),
          dollars(totals.micro_usd_per_hour()),
          with_separators(totals.pods),
          share_text(totals.gpu_milli, std::int64_t{offer.shape.gpu_count} * 1000, totals.instances),
          share_text(totals.cpu_milli, offer.shape.vcpu_milli, totals.instances),
          share_text(totals.memory_mib, offer.shape.memory_mib, totals.instances),
          fmt::format("{} d", at.days() - offer.validity.from.days())};
}

std::string instance_lines(const std::vector<OfferTotals>& totals, Date at, bool has_colour) {
  std::vector<Row> rows = {{"instances", "provider", "region", "purchase", "GPUs each", "each per hour", "per hour",
                            "pods", "GPU", "CPU", "memory", "price age"}};
  for (const OfferTotals& each : totals) rows.push_back(offer_row(each, at));
  const std::vector<std::string> lines = aligned(rows);
  std::string text = styled_line(has_colour, "2", lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) text += lines[i] + "\n";
  return text;
}

std::string cost_lines(const Advice& advice, bool has_colour) {
  const auto row = [&](std::string name, std::int64_t micro_usd) -> Row {
    const auto bound = static_cast<double>(advice.bound_micro_usd_per_hour);
    return {std::move(name), dollars(micro_usd),
            bound > 0 ? fmt::format("{:.3f}", static_cast<double>(micro_usd) / bound) : std::string(kAbsentText)};
  };
  std::vector<Row> rows = {{"together", "per hour", "of bound"}, row("berth", advice.micro_usd_per_hour)};
  for (const Rival& rival : advice.rivals) rows.push_back(row(rival.name, rival.micro_usd_per_hour));
  rows.push_back(row("bound (proven)", advice.bound_micro_usd_per_hour));
  const std::vector<std::string> lines = aligned(rows);
  std::string text = styled_line(has_colour, "2", lines[0]) + styled_line(has_colour, "1", lines[1]);
  for (std::size_t i = 2; i < lines.size(); ++i) text += lines[i] + "\n";
  return text;
}

}  // namespace

std::string advise_table(const AdviceCase& advice_case, bool has_colour) {
  const Advice& advice = advice_case.advice;
  const std::vector<OfferTotals> totals = totals_by_offer(advice, advice_case.pods);
  return instance_lines(totals, advice_case.at, has_colour) + "\n" + cost_lines(advice, has_colour) + "\n" +
         wrapped(advise_verdict(advice) + " " + advise_assumption(advice, advice_case.at)) + "\n";
}

}  // namespace berth::cli
