#include "surface/cli/spot/spot_json.h"

#include <utility>

#include "base/json/value.h"
#include "purchase/spot/verdict.h"
#include "surface/figures/spot_figures.h"

namespace berth::cli {

using purchase::Hold;

std::string spot_json(const std::vector<purchase::SpotScore>& scores, const purchase::SpotStudy& study) {
  return json::Value(
             json::Value::Object{{"berth", 1}, {"policies", figures::json_rows(figures::spot_figures(scores, study))}})
      .to_line();
}

std::string spot_run_line(const purchase::SpotRun& run, const purchase::Market& market) {
  std::string decisions;
  json::Value::List zones;
  for (const purchase::Holding& held : run.result->ticks) {
    decisions += held.hold == Hold::kNone ? 'n' : held.hold == Hold::kSpot ? 's' : 'o';
    if (held.hold == Hold::kSpot) zones.emplace_back(held.zone);
  }
  json::Value::Object line = {{"policy", purchase::name_of(run.policy)},
                              {"series", market.is_joined ? "" : market.series.front()},
                              {"window", market.window},
                              {"deadline_s", run.job.deadline_seconds},
                              {"restart_s", run.job.restart_seconds},
                              {"decisions", std::move(decisions)}};
  if (market.is_joined) line.push_back({"zones", std::move(zones)});
  return json::Value(std::move(line)).to_line();
}

}  // namespace berth::cli
