#include "surface/cli/price/price_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "purchase/pricing/age.h"
#include "surface/cli/shared/offer_words.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using pricing::Offer;
using Row = std::vector<std::string>;

std::string gpus_text(const Offer& offer) {
  const pricing::Shape& shape = offer.shape;
  return shape.gpu_count == 0 ? "part of " + shape.gpu_model : fmt::format("{} x {}", shape.gpu_count, shape.gpu_model);
}

std::string gib(std::int64_t mib) { return mib == 0 ? "?" : significant(static_cast<double>(mib) / 1024); }

std::string mig_text(const Offer& offer) {
  return offer.shape.mig_instances_max == 0 ? "no" : fmt::format("{}", offer.shape.mig_instances_max);
}

/// Rounded for reading; the exact figure is in the JSON.
std::string gpu_price(const Offer& offer) {
  if (!offer.micro_usd_per_hour || offer.shape.gpu_count == 0) return std::string(kAbsentText);
  return dollars(*offer.micro_usd_per_hour / offer.shape.gpu_count);
}

std::string price_text(const Offer& offer) { return shown(offer.micro_usd_per_hour, dollars); }

std::string age_text(const Offer& offer, Date at) {
  return fmt::format("{} d", at.days() - offer.validity.from.days());
}

Row offer_row(const Offer& offer, Date at) {
  return {offer.key.instance_type,
          offer.key.provider,
          offer.key.region,
          std::string(pricing::name_of(offer.key.purchase)),
          gpus_text(offer),
          gib(offer.shape.gpu_memory_mib),
          mig_text(offer),
          significant(static_cast<double>(offer.shape.vcpu_milli) / 1000),
          gib(offer.shape.memory_mib),
          price_text(offer),
          gpu_price(offer),
          age_text(offer, at)};
}

/// The conclusion of the table in words.
std::string verdict(const std::vector<Offer>& offers, Date at) {
  const auto cheapest = std::ranges::find_if(offers, pricing::is_buyable);
  std::string text;
  if (cheapest == offers.end()) {
    text = "None of these can be bought: no price, parts of GPUs, or GPUs that are not NVIDIA's.";
  } else {
    text = fmt::format("A GPU costs least as {} of {} in {} ({}): {} an hour.", cheapest->key.instance_type,
                       cheapest->key.provider, cheapest->key.region, pricing::name_of(cheapest->key.purchase),
                       gpu_price(*cheapest));
  }
  return fmt::format("{} List prices {}, without taxes and your discounts.", text, age_words(offers, at));
}

}  // namespace

std::string offers_table(const std::vector<Offer>& offers, Date at, bool has_colour) {
  std::vector<Row> rows = {{"type", "provider", "region", "purchase", "GPUs", "GiB each", "MIG", "vCPU", "GiB RAM",
                            "per hour", "per GPU-hour", "age"}};
  for (const Offer& offer : offers) rows.push_back(offer_row(offer, at));
  return styled_table(rows, has_colour) + "\n" + wrapped(verdict(offers, at)) + "\n";
}

std::string offer_text(const std::vector<Offer>& offers, const std::vector<Offer>& past, Date at, bool has_colour) {
  std::string text = offers_table(offers, at, has_colour);
  std::vector<Row> rows = {{"from", "to", "provider", "region", "purchase", "per hour", "source"}};
  for (const auto* each : {&offers, &past}) {
    for (const Offer& offer : *each) {
      rows.push_back({offer.validity.from.to_string(), offer.validity.to ? offer.validity.to->to_string() : "today",
                      offer.key.provider, offer.key.region, std::string(pricing::name_of(offer.key.purchase)),
                      price_text(offer), offer.source});
    }
  }
  return text + "\n" + styled_table(rows, has_colour);
}

}  // namespace berth::cli
