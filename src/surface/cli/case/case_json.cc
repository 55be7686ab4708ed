#include "surface/cli/case/case_json.h"

#include <nlohmann/json.hpp>

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMicrosPerSecondReal = 1e6;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json step_json(const study::CaseStep& step) {
  Json json;
  json["name"] = step.name;
  json["hindsight"] = step.is_hindsight;
  json["holds"] = step.holds;
  if (step.infeasible) {
    json["infeasible"] = *step.infeasible;
    return json;
  }
  json["how"] = step.how;
  json["gpus_mean"] = step.gpus_mean;
  json["gpus_max"] = step.gpus_max;
  json["gpu_seconds"] = static_cast<double>(step.gpu_us) / kMicrosPerSecondReal;
  json["cost_micro_usd"] = step.cost_micro_usd;
  json["cost_micro_usd_per_million_in_time"] = or_null(step.cost_micro_usd_per_million_in_time);
  json["requests"] = step.requests;
  json["in_time"] = step.in_time;
  json["slo_attainment_worst_service"] = or_null(step.slo_attainment_worst_service);
  json["utilisation"] = {{"allocated", step.utilisation.allocated},
                         {"busy", step.utilisation.busy},
                         {"effective", step.utilisation.effective}};
  json["saves_of_first"] = or_null(step.saves_of_first);
  json["saves_of_second"] = or_null(step.saves_of_second);
  return json;
}

}  // namespace

std::string case_json(const study::CaseResult& result) {
  Json document;
  document["berth"] = 1;
  document["attainment"] = result.options.attainment.to_double();
  document["small"] = result.is_small;
  document["steps"] = Json::array();
  for (const study::CaseStep& step : result.steps) document["steps"].push_back(step_json(step));
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace berth::cli
