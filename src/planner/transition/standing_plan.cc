#include "planner/transition/standing_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "domain/mig/catalogue.h"
#include "planner/packing/plan_file.h"

namespace berth::transition {
namespace {

/// The tenants and models of a plan, in order of appearance. Their rates and targets are unknown.
std::vector<Demand> demands_of(const packing::PlanFile& plan) {
  std::vector<Demand> demands;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const packing::PlanFileSlice& slice : plan.slices) {
    if (!seen.emplace(slice.tenant, slice.model).second) continue;
    demands.push_back({.model = slice.model, .tenant = slice.tenant, .requests_per_second = {}, .latency_ms = {}});
  }
  return demands;
}

/// Adds offers for GPU models that only the standing plan has. bind_plan refuses an unknown model.
void offer_what_stands(const packing::PlanFile& plan, PackingProblem& problem) {
  const bool is_priced = problem.is_priced();
  for (const packing::PlanFileSlice& slice : plan.slices) {
    if (!slice.gpu_model) continue;
    const bool is_offered = std::ranges::any_of(
        problem.offers, [&](const GpuOffer& offer) { return offer.model.name == *slice.gpu_model; });
    if (is_offered) continue;
    const auto model = mig::find_gpu_model(*slice.gpu_model);
    if (!model || model->name != *slice.gpu_model) continue;
    problem.offers.push_back({.model = *model,
                              .count_max = 0,
                              .micro_usd_per_hour = is_priced ? std::optional<std::int64_t>(1) : std::nullopt});
  }
}

/// Adds the GPU model to the slices of a plan for a single GPU model, which may omit it.
void name_gpu_models(packing::PlanFile& plan, const PackingProblem& problem) {
  if (problem.offers.size() != 1) return;
  for (packing::PlanFileSlice& slice : plan.slices) {
    if (!slice.gpu_model) slice.gpu_model = problem.offers.front().model.name;
  }
}

}  // namespace

Result<transition::StandingPlan> parse_standing_plan(std::string_view text, const std::string& file,
                                                     PackingProblem& problem) {
  auto plan = packing::read_plan_file(text, file);
  if (!plan) return pass_on(plan.error());
  name_gpu_models(*plan, problem);
  offer_what_stands(*plan, problem);
  transition::StandingPlan standing{.demands = demands_of(*plan), .packing = {}};
  auto packing = packing::bind_plan(*plan, file, problem.offers, standing.demands);
  if (!packing) return pass_on(packing.error());
  standing.packing = std::move(*packing);
  return standing;
}

}  // namespace berth::transition
