#include "surface/cli/advise/advise_json.h"

#include <utility>

#include "base/json/value.h"
#include "surface/figures/advise_figures.h"

namespace berth::cli {
namespace {

using purchase::advise::Advice;
using purchase::advise::Instance;

json::Value instance_value(const Instance& instance) {
  json::Value::List pods;
  for (const purchase::advise::SeatedPod& pod : instance.pods) {
    pods.push_back(
        json::Value::Object{{"row", pod.row}, {"gpus", json::Value::List(pod.gpus.begin(), pod.gpus.end())}});
  }
  return json::Value::Object{
      {"provider", instance.offer.key.provider},
      {"instance_type", instance.offer.key.instance_type},
      {"region", instance.offer.key.region},
      {"purchase", pricing::name_of(instance.offer.key.purchase)},
      {"micro_usd_per_hour", instance.offer.micro_usd_per_hour.value()},  // a bought offer has a price
      {"pods", std::move(pods)}};
}

}  // namespace

std::string advise_json(const Advice& advice) {
  json::Value::List instances;
  for (const Instance& instance : advice.instances) instances.push_back(instance_value(instance));
  return json::Value(json::Value::Object{{"berth", 1},
                                         {"micro_usd_per_hour", advice.micro_usd_per_hour},
                                         {"bound_micro_usd_per_hour", advice.bound_micro_usd_per_hour},
                                         {"proven", advice.is_proven()},
                                         {"instances", std::move(instances)},
                                         {"rivals", figures::json_rows(figures::advise_costs(advice))}})
      .to_line();
}

}  // namespace berth::cli
