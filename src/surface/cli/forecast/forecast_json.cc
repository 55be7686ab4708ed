#include "surface/cli/forecast/forecast_json.h"

#include <utility>

#include "base/json/value.h"

namespace berth::cli {

std::string forecast_json(const std::string& trace, const forecast::BacktestResult& result) {
  json::Value::List models;
  for (const forecast::ModelScore& score : result.models) {
    models.push_back(json::Value::Object{{"name", forecast::name_of(score.model)},
                                         {"wape", score.wape},
                                         {"pinball", score.pinball},
                                         {"coverage_80", score.coverage_80},
                                         {"coverage_95", score.coverage_95}});
  }
  return json::Value(json::Value::Object{{"berth", 1},
                                         {"trace", trace},
                                         {"from_second", result.plan.from_second},
                                         {"seconds", result.plan.seconds},
                                         {"horizon", result.plan.horizon},
                                         {"every", result.plan.every},
                                         {"origins", result.origins},
                                         {"forecasts", result.judged_seconds},
                                         {"models", std::move(models)}})
      .to_line();
}

}  // namespace berth::cli
