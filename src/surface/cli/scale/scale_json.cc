#include "surface/cli/scale/scale_json.h"

#include <utility>

#include "base/json/value.h"
#include "surface/figures/scale_figures.h"

namespace berth::cli {

std::string scale_json(const scale::Comparison& comparison) {
  return json::Value(json::Value::Object{{"berth", 1},
                                         {"bound_replica_seconds", scale::bound_replica_seconds(comparison.problem)},
                                         {"policies", figures::json_rows(figures::scale_figures(comparison))}})
      .to_line();
}

std::string scale_log_line(scale::Policy policy, const scale::WantChange& change) {
  json::Value::Object line = {{"policy", scale::name_of(policy)}, {"second", change.second}, {"want", change.want}};
  if (change.reason) {
    line.push_back({"forecast", change.reason->forecast});
    line.push_back({"quantile", change.reason->quantile});
    line.push_back({"margin", change.reason->margin});
  }
  return json::Value(std::move(line)).to_line();
}

}  // namespace berth::cli
