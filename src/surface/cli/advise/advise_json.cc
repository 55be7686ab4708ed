#include "surface/cli/advise/advise_json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace berth::cli {
namespace {

using purchase::advise::Advice;
using purchase::advise::Instance;
using Json = nlohmann::ordered_json;

Json instance_json(const Instance& instance) {
  Json entry;
  entry["provider"] = instance.offer.key.provider;
  entry["instance_type"] = instance.offer.key.instance_type;
  entry["region"] = instance.offer.key.region;
  entry["purchase"] = pricing::name_of(instance.offer.key.purchase);
  entry["micro_usd_per_hour"] = instance.offer.micro_usd_per_hour.value();  // what is bought has a price
  entry["pods"] = Json::array();
  for (const purchase::advise::SeatedPod& pod : instance.pods) {
    Json seat;
    seat["row"] = pod.row;
    seat["gpus"] = pod.gpus;
    entry["pods"].push_back(std::move(seat));
  }
  return entry;
}

}  // namespace

std::string advise_json(const Advice& advice) {
  Json document;
  document["berth"] = 1;
  document["micro_usd_per_hour"] = advice.micro_usd_per_hour;
  document["bound_micro_usd_per_hour"] = advice.bound_micro_usd_per_hour;
  document["proven"] = advice.is_proven();
  document["instances"] = Json::array();
  for (const Instance& instance : advice.instances) document["instances"].push_back(instance_json(instance));
  document["rivals"] = Json::array();
  for (const purchase::advise::Rival& rival : advice.rivals) {
    Json entry;
    entry["name"] = rival.name;
    entry["micro_usd_per_hour"] = rival.micro_usd_per_hour;
    document["rivals"].push_back(std::move(entry));
  }
  return document.dump() + "\n";
}

}  // namespace berth::cli
