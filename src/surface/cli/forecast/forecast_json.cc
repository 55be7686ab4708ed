#include "surface/cli/forecast/forecast_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json/text.h"

namespace berth::cli {

std::string forecast_json(const std::string& trace, const forecast::BacktestResult& result) {
  nlohmann::ordered_json document;
  document["berth"] = 1;
  document["trace"] = trace;
  document["from_second"] = result.plan.from_second;
  document["seconds"] = result.plan.seconds;
  document["horizon"] = result.plan.horizon;
  document["every"] = result.plan.every;
  document["origins"] = result.origins;
  document["forecasts"] = result.judged_seconds;
  document["models"] = nlohmann::ordered_json::array();
  for (const forecast::ModelScore& score : result.models) {
    nlohmann::ordered_json entry;
    entry["name"] = forecast::name_of(score.model);
    entry["wape"] = json::or_null(score.wape);
    entry["pinball"] = score.pinball;
    entry["coverage_80"] = score.coverage_80;
    entry["coverage_95"] = score.coverage_95;
    document["models"].push_back(std::move(entry));
  }
  // A path need not be UTF-8: what is not is replaced, so that the output always is.
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace berth::cli
