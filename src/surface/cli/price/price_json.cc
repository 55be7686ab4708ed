#include "surface/cli/price/price_json.h"

#include <optional>

#include "base/json/writer.h"

namespace berth::cli {
namespace {

void write_offer(json::Writer& json, const pricing::Offer& offer, Date at) {
  const auto& until = offer.validity.to;
  json.open_object().member("provider", offer.key.provider).member("instance_type", offer.key.instance_type);
  json.member("region", offer.key.region).member("purchase", pricing::name_of(offer.key.purchase));
  json.member("gpu_model", offer.shape.gpu_model).member("gpu_count", offer.shape.gpu_count);
  json.member("gpu_memory_mib", offer.shape.gpu_memory_mib).member("vcpu_milli", offer.shape.vcpu_milli);
  json.member("memory_mib", offer.shape.memory_mib).member("mig_instances_max", offer.shape.mig_instances_max);
  json.member("micro_usd_per_hour", offer.micro_usd_per_hour);
  json.member("valid_from", offer.validity.from.to_string());
  json.member("valid_to", until ? std::optional(until->to_string()) : std::nullopt);
  json.member("age_days", at.days() - offer.validity.from.days());
  json.member("is_buyable", pricing::is_buyable(offer)).member("source", offer.source).close_object();
}

}  // namespace

std::string offers_json(const std::vector<pricing::Offer>& offers, Date at) {
  json::Writer json;
  json.open_object().member("berth", 1).member("at", at.to_string());
  json.list("offers", offers, [&](json::Writer& to, const pricing::Offer& offer) { write_offer(to, offer, at); });
  return json.close_object().take_line();
}

}  // namespace berth::cli
