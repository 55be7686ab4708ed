#include "engine/loop/planned_floors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "base/core/overloaded.h"
#include "domain/profile/operating_point.h"
#include "engine/loop/static_conflict.h"
#include "planner/plan/floor_proof.h"
#include "planner/plan/solve.h"

namespace berth {
namespace {

/// The slices that a planner counts on; the checkers have their own function (engine/loop/fleet_after.h).
std::map<Slice, Allocation> slices_after(const Snapshot& snapshot, const Plan& plan) {
  std::map<Slice, Allocation> after;
  for (const StandingSlice& standing : snapshot.staying()) after[standing.holding.slice] = standing.allocation();
  for (const Action& action : plan.actions) {
    std::visit(Overloaded{[&](const CreateSlice& create) {
                            after[create.slice] = {.holding = {.slice = create.slice, .services = {}}};
                          },
                          [&](const DestroySlice& destroy) { after.erase(destroy.slice); },
                          [&](const AssignSlice& assign) { after[assign.holding.slice] = assign; }},
               action.what);
  }
  return after;
}

double full_gpu_interference(const Scenario& scenario) {
  double factor = 1;
  for (const Decimal& each : scenario.interference) factor = std::max(factor, each.to_double());
  return factor;
}

double rate_of(const Scenario& scenario, ServiceId service, const Allocation& after) {
  const ServiceSpec& spec = scenario.services[service.index];
  const GpuModel& model = scenario.model_of(after.holding.slice.gpu);
  const ProfileId profile = after.holding.slice.profile;
  const auto point = profile::point_for(spec, model, profile, after.point);
  if (!point) return 0;
  return 1000.0 * point->processes * point->batch / point->latency_ms.to_double() / full_gpu_interference(scenario);
}

}  // namespace

std::vector<PlannedFloor> planned_floors(const Scenario& scenario, const Snapshot& snapshot,
                                         const planner::Moment& moment, const Plan& plan) {
  std::vector<PlannedFloor> floors;
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const auto& attainment = scenario.services[index].floor_attainment;
    if (!attainment) continue;
    floors.push_back({.service = {index},
                      .needed = planner::floor_rate(moment.outlooks[index], moment, attainment->to_double()),
                      .planned = 0});
  }
  if (floors.empty()) return floors;
  for (const auto& [slice, after] : slices_after(snapshot, plan)) {
    if (after.holding.role != Role::kInference || after.holding.services.size() != 1) continue;
    const auto floor = std::ranges::find(floors, after.holding.services.front(), &PlannedFloor::service);
    if (floor != floors.end()) floor->planned += rate_of(scenario, floor->service, after);
  }
  return floors;
}

Finding ask_moment(const MomentQuestion& question, std::span<const ConstraintId> kept) {
  planner::Moment settled = question.moment;
  for (planner::StandingNow& standing : settled.standing) standing.ready_in = Micros();
  settled.is_gpu_leaving.clear();
  for (planner::Outlook& outlook : settled.outlooks) {
    if (question.is_first_layout) outlook.changes_left.reset();
  }
  // Without a price of changes no schedule has a negative worth; the fleet's proofs depend on that.
  planner::Problem problem = planner::make_problem(with_only(question.scenario, kept), question.frame, settled);
  problem.change_price = 0;
  for (planner::ServiceTerms& service : problem.services) {  // numbers of slices are no constraints of a conflict
    if (service.counts_slices) service.floor_rate = 0;
    service.slices_max = -1;
  }
  if (question.is_first_layout) {
    problem.is_frozen.clear();
    problem.floors_from = planner::SlotIndex(0);
  }
  // This proof is much quicker than a search, and a fleet's search rarely proves that there is no schedule.
  if (planner::is_floor_shortage_proven(problem)) return Finding::kCannotBeMet;
  const planner::Answer answer = planner::solve(problem, {.nodes_max = question.nodes_max, .gap = 0});
  if (!answer.is_infeasible && !answer.misses_floors) return Finding::kCanBeMet;
  return answer.is_infeasibility_proven ? Finding::kCannotBeMet : Finding::kNotDecided;
}

ConflictSearchResult find_moment_conflict(const MomentQuestion& question) {
  // A question plans the whole fleet.
  constexpr int kGpusAskedMax = 4000;
  constexpr int kCallsMin = 2;
  const int gpus = std::max(1, static_cast<int>(question.scenario.gpu_count()));
  ConflictLimits limits;
  limits.calls_max = std::clamp(kGpusAskedMax / gpus, kCallsMin, limits.calls_max);
  const FeasibilityQuestion ask = [&](std::span<const ConstraintId> kept) { return ask_moment(question, kept); };
  return find_conflict(constraints_of(question.scenario), ask, limits);
}

}  // namespace berth
