#include "surface/cli/place/place_json.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace berth::cli {
namespace {

using placement::ArrivalOrder;
using placement::PolicyResult;
using placement::Summary;
using Json = nlohmann::ordered_json;

Json summary_json(const std::optional<Summary>& summary) {
  if (!summary) return nullptr;
  Json entry;
  entry["mean"] = summary->mean;
  entry["sd"] = summary->sd ? Json(*summary->sd) : Json(nullptr);
  return entry;
}

Json times_json(const std::optional<placement::DecisionTimes>& times) {
  if (!times) return nullptr;
  Json entry;
  entry["p50"] = times->p50_us;
  entry["p99"] = times->p99_us;
  entry["per_second"] = times->per_second;
  return entry;
}

Json result_json(const PolicyResult& result, bool has_slices) {
  Json entry;
  entry["policy"] = placement::name_of(result.policy);
  entry["allocated_percent_at_100"] = summary_json(result.allocated_at_100);
  entry["allocated_percent_at_130"] = summary_json(result.allocated_at_130);
  entry["allocated_percent_churn"] = summary_json(result.allocated_churn);
  if (has_slices) {
    entry["units_percent_at_130"] = summary_json(result.units_at_130);
    entry["units_percent_churn"] = summary_json(result.units_churn);
  }
  entry["fragmented_percent"] = summary_json(result.fragmented);
  entry["failed"] = summary_json(result.failed);
  if (has_slices) entry["moves"] = summary_json(result.moves);
  entry["decision_us"] = times_json(result.times);
  return entry;
}

}  // namespace

std::string place_json(const placement::Problem& problem, const placement::StudyOptions& study,
                       const std::vector<PolicyResult>& results) {
  const bool is_given = study.order == ArrivalOrder::kGiven;
  Json document;
  document["berth"] = 1;
  document["nodes"] = problem.nodes.size();
  document["gpus"] = problem.gpu_count;
  document["pods"] = problem.pod_names.size();
  document["seeds"] = is_given ? Json::array() : Json(study.seeds);
  document["order"] = is_given ? "given" : "seeded";
  document["policies"] = Json::array();
  for (const PolicyResult& result : results) document["policies"].push_back(result_json(result, problem.has_cuts()));
  return document.dump() + "\n";
}

}  // namespace berth::cli
