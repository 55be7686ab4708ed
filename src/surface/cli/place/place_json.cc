#include "surface/cli/place/place_json.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "base/json/writer.h"

namespace berth::cli {
namespace {

using json::JsonWriter;
using placement::ArrivalOrder;
using placement::PolicyResult;
using placement::Summary;

void write_number(JsonWriter& json, std::string_view key, std::optional<double> value) {
  json.key(key);
  if (value) {
    json.number(fmt::format("{:.9f}", *value));
  } else {
    json.null();
  }
}

void write_summary(JsonWriter& json, std::string_view key, const std::optional<Summary>& summary) {
  json.key(key);
  if (!summary) {
    json.null();
    return;
  }
  json.open_object();
  write_number(json, "mean", summary->mean);
  write_number(json, "sd", summary->sd);
  json.close_object();
}

void write_times(JsonWriter& json, const std::optional<placement::DecisionTimes>& times) {
  json.key("decision_us");
  if (!times) {
    json.null();
    return;
  }
  json.open_object();
  write_number(json, "p50", times->p50_us);
  write_number(json, "p99", times->p99_us);
  write_number(json, "per_second", times->per_second);
  json.close_object();
}

void write_result(JsonWriter& json, const PolicyResult& result, bool has_slices) {
  json.open_object();
  json.key("policy").text(placement::name_of(result.policy));
  write_summary(json, "allocated_percent_at_100", result.allocated_at_100);
  write_summary(json, "allocated_percent_at_130", result.allocated_at_130);
  write_summary(json, "allocated_percent_churn", result.allocated_churn);
  if (has_slices) {
    write_summary(json, "units_percent_at_130", result.units_at_130);
    write_summary(json, "units_percent_churn", result.units_churn);
  }
  write_summary(json, "fragmented_percent", result.fragmented);
  write_summary(json, "failed", result.failed);
  if (has_slices) write_summary(json, "moves", result.moves);
  write_times(json, result.times);
  json.close_object();
}

}  // namespace

std::string place_json(const placement::Problem& problem, const placement::StudyOptions& study,
                       const std::vector<PolicyResult>& results) {
  const bool is_given = study.order == ArrivalOrder::kGiven;
  JsonWriter json;
  json.open_object();
  json.key("berth").integer(1);
  json.key("nodes").integer(std::ssize(problem.nodes));
  json.key("gpus").integer(problem.gpu_count);
  json.key("pods").integer(std::ssize(problem.pod_names));
  json.key("seeds").open_list();
  for (const std::uint64_t seed : study.seeds) {
    if (!is_given) json.integer(static_cast<std::int64_t>(seed));
  }
  json.close_list();
  json.key("order").text(is_given ? "given" : "seeded");
  json.key("policies").open_list();
  for (const PolicyResult& result : results) write_result(json, result, problem.has_cuts());
  json.close_list().close_object();
  return json.take();
}

}  // namespace berth::cli
