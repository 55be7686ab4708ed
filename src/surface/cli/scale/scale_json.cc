#include "surface/cli/scale/scale_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json/text.h"

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kTwentieths = 20;

/// How the policy is set; of `berth` what it found by itself, means over the run.
Json parameters_json(const scale::PolicyResult& result) {
  Json parameters = Json::object();
  if (result.tracking) {
    parameters["u"] = static_cast<double>(result.tracking->target_twentieths) / kTwentieths;
    parameters["s"] = result.tracking->hold_seconds;
  }
  if (result.replicas) parameters["replicas"] = *result.replicas;
  if (result.found) {
    parameters["forecast_mean"] = result.found->forecast;
    parameters["quantile_mean"] = result.found->quantile;
    parameters["margin_mean"] = result.found->margin;
  }
  return parameters;
}

Json result_json(const scale::PolicyResult& result, const scale::Comparison& comparison) {
  Json entry;
  entry["policy"] = scale::name_of(result.policy);
  entry["hindsight"] = scale::is_hindsight(result.policy);
  entry["replica_seconds"] = result.run.replica_seconds;
  entry["micro_usd"] = json::or_null(comparison.micro_usd(result));
  entry["requests"] = result.run.requests;
  entry["in_time"] = result.run.in_time;
  entry["attainment"] = json::or_null(scale::attainment_of(result));
  entry["ups"] = result.run.ups;
  entry["downs"] = result.run.downs;
  entry["parameters"] = parameters_json(result);
  return entry;
}

}  // namespace

std::string scale_json(const scale::Comparison& comparison) {
  Json document;
  document["berth"] = 1;
  document["bound_replica_seconds"] = scale::bound_replica_seconds(comparison.problem);
  document["policies"] = Json::array();
  for (const scale::PolicyResult& result : comparison.results)
    document["policies"].push_back(result_json(result, comparison));
  return document.dump() + "\n";
}

std::string scale_log_line(scale::Policy policy, const scale::WantChange& change) {
  Json line;
  line["policy"] = scale::name_of(policy);
  line["second"] = change.second;
  line["want"] = change.want;
  if (change.reason) {
    line["forecast"] = change.reason->forecast;
    line["quantile"] = change.reason->quantile;
    line["margin"] = change.reason->margin;
  }
  return line.dump() + "\n";
}

}  // namespace berth::cli
