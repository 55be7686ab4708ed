#include "surface/cli/pack/pack_json.h"

#include <vector>

#include "base/json/text.h"
#include "domain/values/scenario.h"
#include "planner/packing/packing_json.h"
#include "planner/transition/transition_json.h"

namespace berth::cli {
namespace {

using json::exact_text;
using json::json_text;
using json::list_text;
using json::object_text;

std::string cure_text(const PackAnswer& answer) {
  if (answer.cure == nullptr) return "null";
  return object_text({{"headroom", exact_text(answer.cure->headroom)},
                      {"gpus", json_text(answer.cure->gpus)},
                      {"cost_micro_usd_per_hour", json_text(json::or_null(answer.cure->micro_usd_per_hour))}});
}

std::string verification_text(const PackAnswer& answer) {
  if (answer.replay == nullptr) return "null";
  const study::PackingReplay& replay = *answer.replay;
  std::vector<std::string> demands;
  demands.reserve(replay.demands.size());
  for (std::size_t i = 0; i < replay.demands.size(); ++i) {
    const Demand& demand = answer.problem.demands[i];
    const study::DemandFigures& figures = replay.demands[i];
    demands.push_back(object_text({{"model", json_text(demand.model)},
                                   {"tenant", json_text(demand.tenant)},
                                   {"requests_per_second", exact_text(demand.requests_per_second)},
                                   {"load", json_text(json::or_null(figures.load))},
                                   {"slo_attainment", json_text(json::or_null(figures.slo_attainment))},
                                   {"latency_p99_ms", json_text(json::or_null(figures.latency_p99_ms))}}));
  }
  return object_text({{"seconds", json_text(replay.seconds)},
                      {"seeds", json_text(replay.seeds)},
                      {"demands", list_text(demands)},
                      {"fidelity", replay.fidelity == Fidelity::kRates ? "\"rates\"" : "\"requests\""},
                      {"cure", cure_text(answer)}});
}

}  // namespace

std::string pack_json(const PackAnswer& answer) {
  json::Members members = packing::packing_members(answer.problem, answer.result);
  members.emplace_back("verification", verification_text(answer));
  if (answer.transition != nullptr) {
    members.emplace_back("transition", transition::transition_json(answer.problem, *answer.transition));
  }
  return object_text(members) + "\n";
}

}  // namespace berth::cli
