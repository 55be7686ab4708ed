#include "planner/packing/packing_json.h"

#include <string>
#include <vector>

#include "base/json/text.h"
#include "domain/values/scenario.h"

namespace berth::packing {
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
json::Members place_members(const PlanView& view, const Slice& slice) {
  const GpuModel& model = view.model_of(slice.gpu);
  json::Members members = {{"gpu", json::json_text(slice.gpu.index)}};
  if (view.names_models) members.emplace_back("gpu_model", json::json_text(model.name));
  members.emplace_back("profile", json::json_text(profile_name(model, slice.profile)));
  members.emplace_back("start", json::json_text(slice.start));
  return members;
}

std::string slice_text(const PlanView& view, const PackedSlice& packed) {
  const Demand& demand = view.problem.demands[packed.demand];
  json::Members members = place_members(view, packed.slice);
  members.emplace_back("model", json::json_text(demand.model));
  members.emplace_back("tenant", json::json_text(demand.tenant));
  members.emplace_back("batch", json::json_text(packed.batch));
  members.emplace_back("processes", json::json_text(packed.processes));
  members.emplace_back("requests_per_second", json::exact_text(packed.requests_per_second));
  return json::object_text(members);
}

std::string slices_text(const PlanView& view) {
  std::vector<std::string> items;
  items.reserve(view.result.packing.slices.size());
  for (const PackedSlice& packed : view.result.packing.slices) items.push_back(slice_text(view, packed));
  return json::list_text(items);
}

std::string unused_text(const PlanView& view) {
  std::vector<std::string> items;
  items.reserve(view.result.unused.size());
  for (const Slice& slice : view.result.unused) items.push_back(json::object_text(place_members(view, slice)));
  return json::list_text(items);
}

}  // namespace

bool names_gpu_models(const PackingProblem& problem) { return problem.is_priced() || problem.offers.size() > 1; }

json::Members packing_members(const PackingProblem& problem, const packing::PackResult& result) {
  const PlanView view{.problem = problem, .result = result, .names_models = names_gpu_models(problem)};
  const packing::PackScore& score = result.score;
  const std::string largest_free =
      score.largest_free ? json::object_text(place_members(view, *score.largest_free)) : "null";
  return {{"gpus", json::json_text(score.gpus)},
          {"bound", json::json_text(result.bound)},
          {"proven", json::json_text(result.is_proven)},
          {"objective", problem.is_priced() ? "\"cost_micro_usd_per_hour\"" : "\"gpus\""},
          {"cost_micro_usd_per_hour", json::json_text(json::or_null(score.micro_usd_per_hour))},
          {"slices", slices_text(view)},
          {"unused", unused_text(view)},
          {"largest_free", largest_free},
          {"largest_free_proven", json::json_text(result.is_largest_free_proven)},
          {"slice_count", json::json_text(score.slices)},
          {"slice_count_proven", json::json_text(result.is_slice_count_proven)},
          {"nodes", json::json_text(result.nodes)}};
}

}  // namespace berth::packing
