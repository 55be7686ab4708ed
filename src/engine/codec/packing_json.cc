#include "engine/codec/packing_json.h"

#include <string>
#include <vector>

#include "domain/values/scenario.h"
#include "engine/codec/json_value.h"

namespace berth::codec {
namespace {

/// Borrowed for the time of one call.
struct PlanView {
  const PackingProblem& problem;
  const packing::PackResult& result;
  bool names_models = false;

  [[nodiscard]] const GpuModel& model_of(GpuId gpu) const {
    return problem.offers[result.packing.gpu_offers[gpu.index]].model;
  }
};

/// Where a slice is.
Members place_members(const PlanView& view, const Slice& slice) {
  const GpuModel& model = view.model_of(slice.gpu);
  Members members = {{"gpu", json_text(slice.gpu.index)}};
  if (view.names_models) members.emplace_back("gpu_model", json_text(model.name));
  members.emplace_back("profile", json_text(profile_name(model, slice.profile)));
  members.emplace_back("start", json_text(slice.start));
  return members;
}

std::string slice_text(const PlanView& view, const PackedSlice& packed) {
  const Demand& demand = view.problem.demands[packed.demand];
  Members members = place_members(view, packed.slice);
  members.emplace_back("model", json_text(demand.model));
  members.emplace_back("tenant", json_text(demand.tenant));
  members.emplace_back("batch", json_text(packed.batch));
  members.emplace_back("processes", json_text(packed.processes));
  members.emplace_back("requests_per_second", exact_text(packed.requests_per_second));
  return object_text(members);
}

std::string slices_text(const PlanView& view) {
  std::vector<std::string> items;
  items.reserve(view.result.packing.slices.size());
  for (const PackedSlice& packed : view.result.packing.slices) items.push_back(slice_text(view, packed));
  return list_text(items);
}

std::string unused_text(const PlanView& view) {
  std::vector<std::string> items;
  items.reserve(view.result.unused.size());
  for (const Slice& slice : view.result.unused) items.push_back(object_text(place_members(view, slice)));
  return list_text(items);
}

}  // namespace

bool names_gpu_models(const PackingProblem& problem) { return problem.is_priced() || problem.offers.size() > 1; }

Members packing_members(const PackingProblem& problem, const packing::PackResult& result) {
  const PlanView view{.problem = problem, .result = result, .names_models = names_gpu_models(problem)};
  const packing::PackScore& score = result.score;
  const std::string largest_free = score.largest_free ? object_text(place_members(view, *score.largest_free)) : "null";
  return {{"gpus", json_text(score.gpus)},
          {"bound", json_text(result.bound)},
          {"proven", json_text(result.is_proven)},
          {"objective", problem.is_priced() ? "\"cost_micro_usd_per_hour\"" : "\"gpus\""},
          {"cost_micro_usd_per_hour", json_text(or_null(score.micro_usd_per_hour))},
          {"slices", slices_text(view)},
          {"unused", unused_text(view)},
          {"largest_free", largest_free},
          {"largest_free_proven", json_text(result.is_largest_free_proven)},
          {"slice_count", json_text(score.slices)},
          {"slice_count_proven", json_text(result.is_slice_count_proven)},
          {"nodes", json_text(result.nodes)}};
}

}  // namespace berth::codec
