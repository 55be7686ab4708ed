#include "surface/cli/price/price_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json/text.h"

namespace berth::cli {
namespace {

nlohmann::ordered_json offer_json(const pricing::Offer& offer, Date at) {
  nlohmann::ordered_json entry;
  entry["provider"] = offer.key.provider;
  entry["instance_type"] = offer.key.instance_type;
  entry["region"] = offer.key.region;
  entry["purchase"] = pricing::name_of(offer.key.purchase);
  entry["gpu_model"] = offer.shape.gpu_model;
  entry["gpu_count"] = offer.shape.gpu_count;
  entry["gpu_memory_mib"] = offer.shape.gpu_memory_mib;
  entry["vcpu_milli"] = offer.shape.vcpu_milli;
  entry["memory_mib"] = offer.shape.memory_mib;
  entry["mig_instances_max"] = offer.shape.mig_instances_max;
  entry["micro_usd_per_hour"] = json::or_null(offer.micro_usd_per_hour);
  entry["valid_from"] = offer.validity.from.to_string();
  entry["valid_to"] = nullptr;
  if (offer.validity.to) entry["valid_to"] = offer.validity.to->to_string();
  entry["age_days"] = at.days() - offer.validity.from.days();
  entry["is_buyable"] = pricing::is_buyable(offer);
  entry["source"] = offer.source;
  return entry;
}

}  // namespace

std::string offers_json(const std::vector<pricing::Offer>& offers, Date at) {
  nlohmann::ordered_json document;
  document["berth"] = 1;
  document["at"] = at.to_string();
  document["offers"] = nlohmann::ordered_json::array();
  for (const pricing::Offer& offer : offers) document["offers"].push_back(offer_json(offer, at));
  // Names of a file need not be UTF-8 in every locale: what is not is replaced, so that the output always is.
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace berth::cli
