#include "surface/cli/place/place_json.h"

#include <cstdint>
#include <utility>

#include "base/json/value.h"
#include "surface/figures/place_figures.h"

namespace berth::cli {

std::string place_json(const placement::Problem& problem, const placement::StudyOptions& study,
                       const std::vector<placement::PolicyResult>& results) {
  const bool is_given = study.order == placement::ArrivalOrder::kGiven;
  json::Value::List seeds;
  for (const std::uint64_t seed : study.seeds) {
    if (!is_given) seeds.emplace_back(seed);
  }
  return json::Value(json::Value::Object{{"berth", 1},
                                         {"nodes", problem.nodes.size()},
                                         {"gpus", problem.gpu_count},
                                         {"pods", problem.pod_names.size()},
                                         {"seeds", std::move(seeds)},
                                         {"order", is_given ? "given" : "seeded"},
                                         {"policies", figures::json_rows(figures::place_figures(problem, results))}})
      .to_line();
}

}  // namespace berth::cli
