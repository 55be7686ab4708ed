#include "surface/cli/case/case_json.h"

#include <utility>

#include "base/json/value.h"

namespace berth::cli {
namespace {

constexpr double kMicrosPerSecondReal = 1e6;

json::Value step_value(const study::CaseStep& step) {
  json::Value::Object members = {{"name", step.name}, {"hindsight", step.is_hindsight}, {"holds", step.holds}};
  if (step.infeasible) {
    members.push_back({"infeasible", *step.infeasible});
    return members;
  }
  json::Value::Object figures = {{"how", step.how},
                                 {"gpus_mean", step.gpus_mean},
                                 {"gpus_max", step.gpus_max},
                                 {"gpu_seconds", static_cast<double>(step.gpu_us) / kMicrosPerSecondReal},
                                 {"cost_micro_usd", step.cost_micro_usd},
                                 {"cost_micro_usd_per_million_in_time", step.cost_micro_usd_per_million_in_time},
                                 {"requests", step.requests},
                                 {"in_time", step.in_time},
                                 {"slo_attainment_worst_service", step.slo_attainment_worst_service},
                                 {"utilisation", json::Value::Object{{"allocated", step.utilisation.allocated},
                                                                     {"busy", step.utilisation.busy},
                                                                     {"effective", step.utilisation.effective}}},
                                 {"saves_of_first", step.saves_of_first},
                                 {"saves_of_second", step.saves_of_second}};
  members.insert(members.end(), figures.begin(), figures.end());
  return members;
}

}  // namespace

std::string case_json(const study::CaseResult& result) {
  json::Value::List steps;
  for (const study::CaseStep& step : result.steps) steps.push_back(step_value(step));
  return json::Value(json::Value::Object{{"berth", 1},
                                         {"attainment", result.options.attainment.to_double()},
                                         {"small", result.is_small},
                                         {"steps", std::move(steps)}})
      .to_line();
}

}  // namespace berth::cli
