#include "surface/cli/pack/pack_json.h"

#include "base/json/writer.h"
#include "domain/values/scenario.h"
#include "planner/packing/packing_json.h"
#include "planner/transition/transition_json.h"

namespace berth::cli {
namespace {

using json::Writer;

void put_demands(Writer& json, const PackAnswer& answer) {
  json.open_list("demands");
  for (std::size_t i = 0; i < answer.replay->demands.size(); ++i) {
    const Demand& demand = answer.problem.demands[i];
    const study::DemandFigures& figures = answer.replay->demands[i];
    json.open_object().member("model", demand.model).member("tenant", demand.tenant);
    json.member("requests_per_second", demand.requests_per_second).member("load", figures.load);
    json.member("slo_attainment", figures.slo_attainment);
    json.member("latency_p99_ms", figures.latency_p99_ms).close_object();
  }
  json.close_list();
}

void write_cure(Writer& json, const PackAnswer& answer) {
  if (answer.cure == nullptr) {
    json.value(nullptr);
    return;
  }
  json.open_object().member("headroom", answer.cure->headroom).member("gpus", answer.cure->gpus);
  json.member("cost_micro_usd_per_hour", answer.cure->micro_usd_per_hour).close_object();
}

void write_verification(Writer& json, const PackAnswer& answer) {
  if (answer.replay == nullptr) {
    json.value(nullptr);
    return;
  }
  const study::PackingReplay& replay = *answer.replay;
  json.open_object().member("seconds", replay.seconds).list("seeds", replay.seeds);
  put_demands(json, answer);
  json.member("fidelity", replay.fidelity == Fidelity::kRates ? "rates" : "requests");
  write_cure(json.key("cure"), answer);
  json.close_object();
}

}  // namespace

std::string pack_json(const PackAnswer& answer) {
  Writer json;
  packing::put_packing(json.open_object(), answer.problem, answer.result);
  write_verification(json.key("verification"), answer);
  if (answer.transition != nullptr) {
    transition::write_transition(json.key("transition"), answer.problem, *answer.transition);
  }
  return json.close_object().take_line();
}

}  // namespace berth::cli
