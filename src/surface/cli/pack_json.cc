#include "surface/cli/pack_json.h"

#include <vector>

#include "domain/scenario.h"
#include "surface/cli/detail/json_text.h"
#include "surface/cli/json_value.h"
#include "surface/cli/transition_json.h"

namespace berth::cli {
namespace {

using detail::exact_text;
using detail::json_text;
using detail::list_text;
using detail::Members;
using detail::object_text;

/// Where a slice is.
Members place_members(const PackAnswer& answer, const Slice& slice) {
  const GpuModel& model = answer.model_of(slice.gpu);
  Members members = {{"gpu", json_text(slice.gpu.index)}};
  if (answer.names_models()) members.emplace_back("gpu_model", json_text(model.name));
  members.emplace_back("profile", json_text(profile_name(model, slice.profile)));
  members.emplace_back("start", json_text(slice.start));
  return members;
}

std::string slice_text(const PackAnswer& answer, const PackedSlice& packed) {
  const Demand& demand = answer.problem.demands[packed.demand];
  Members members = place_members(answer, packed.slice);
  members.emplace_back("model", json_text(demand.model));
  members.emplace_back("tenant", json_text(demand.tenant));
  members.emplace_back("batch", json_text(packed.batch));
  members.emplace_back("processes", json_text(packed.processes));
  members.emplace_back("requests_per_second", exact_text(packed.requests_per_second));
  return object_text(members);
}

std::string slices_text(const PackAnswer& answer) {
  std::vector<std::string> items;
  items.reserve(answer.result.packing.slices.size());
  for (const PackedSlice& packed : answer.result.packing.slices) items.push_back(slice_text(answer, packed));
  return list_text(items);
}

std::string unused_text(const PackAnswer& answer) {
  std::vector<std::string> items;
  items.reserve(answer.result.unused.size());
  for (const Slice& slice : answer.result.unused) items.push_back(object_text(place_members(answer, slice)));
  return list_text(items);
}

std::string cure_text(const PackAnswer& answer) {
  if (answer.cure == nullptr) return "null";
  return object_text({{"headroom", exact_text(answer.cure->headroom)},
                      {"gpus", json_text(answer.cure->gpus)},
                      {"cost_micro_usd_per_hour", json_text(or_null(answer.cure->micro_usd_per_hour))}});
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
                                   {"load", json_text(or_null(figures.load))},
                                   {"slo_attainment", json_text(or_null(figures.slo_attainment))},
                                   {"latency_p99_ms", json_text(or_null(figures.latency_p99_ms))}}));
  }
  return object_text({{"seconds", json_text(replay.seconds)},
                      {"seeds", json_text(replay.seeds)},
                      {"demands", list_text(demands)},
                      {"fidelity", replay.fidelity == Fidelity::kRates ? "\"rates\"" : "\"requests\""},
                      {"cure", cure_text(answer)}});
}

}  // namespace

std::string pack_json(const PackAnswer& answer) {
  const packing::PackResult& result = answer.result;
  const packing::PackScore& score = result.score;
  const std::string largest_free =
      score.largest_free ? object_text(place_members(answer, *score.largest_free)) : "null";
  Members members = {{"gpus", json_text(score.gpus)},
                     {"bound", json_text(result.bound)},
                     {"proven", json_text(result.is_proven)},
                     {"objective", answer.is_priced() ? "\"cost_micro_usd_per_hour\"" : "\"gpus\""},
                     {"cost_micro_usd_per_hour", json_text(or_null(score.micro_usd_per_hour))},
                     {"slices", slices_text(answer)},
                     {"unused", unused_text(answer)},
                     {"largest_free", largest_free},
                     {"largest_free_proven", json_text(result.is_largest_free_proven)},
                     {"slice_count", json_text(score.slices)},
                     {"slice_count_proven", json_text(result.is_slice_count_proven)},
                     {"nodes", json_text(result.nodes)},
                     {"verification", verification_text(answer)}};
  if (answer.transition != nullptr) {
    members.emplace_back("transition", transition_json(answer.problem, *answer.transition));
  }
  return object_text(members) + "\n";
}

}  // namespace berth::cli
