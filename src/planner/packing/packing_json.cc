#include "planner/packing/packing_json.h"

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

/// Where a slice is: its first members.
void put_place(json::Writer& json, const PlanView& view, const Slice& slice) {
  const GpuModel& model = view.model_of(slice.gpu);
  json.member("gpu", slice.gpu.index);
  if (view.names_models) json.member("gpu_model", model.name);
  json.member("profile", profile_name(model, slice.profile)).member("start", slice.start);
}

void write_place(json::Writer& json, const PlanView& view, const Slice& slice) {
  json.open_object();
  put_place(json, view, slice);
  json.close_object();
}

void write_slice(json::Writer& json, const PlanView& view, const PackedSlice& packed) {
  const Demand& demand = view.problem.demands[packed.demand];
  json.open_object();
  put_place(json, view, packed.slice);
  json.member("model", demand.model).member("tenant", demand.tenant);
  json.member("batch", packed.batch).member("processes", packed.processes);
  json.member("requests_per_second", packed.requests_per_second).close_object();
}

}  // namespace

bool names_gpu_models(const PackingProblem& problem) { return problem.is_priced() || problem.offers.size() > 1; }

void put_packing(json::Writer& json, const PackingProblem& problem, const packing::PackResult& result) {
  const PlanView view{.problem = problem, .result = result, .names_models = names_gpu_models(problem)};
  const packing::PackScore& score = result.score;
  json.member("gpus", score.gpus).member("bound", result.bound).member("proven", result.is_proven);
  json.member("objective", problem.is_priced() ? "cost_micro_usd_per_hour" : "gpus");
  json.member("cost_micro_usd_per_hour", score.micro_usd_per_hour);
  json.list("slices", result.packing.slices, [&](auto& to, const PackedSlice& slice) { write_slice(to, view, slice); });
  json.list("unused", result.unused, [&](auto& to, const Slice& slice) { write_place(to, view, slice); });
  json.key("largest_free");
  if (score.largest_free) {
    write_place(json, view, *score.largest_free);
  } else {
    json.value(nullptr);
  }
  json.member("largest_free_proven", result.is_largest_free_proven);
  json.member("slice_count", score.slices).member("slice_count_proven", result.is_slice_count_proven);
  json.member("nodes", result.nodes);
}

}  // namespace berth::packing
