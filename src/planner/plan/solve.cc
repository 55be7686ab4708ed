#include "planner/plan/solve.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "planner/many_gpus/fleet.h"
#include "planner/one_gpu/one_gpu.h"
#include "planner/plan/detail/add_slices.h"
#include "planner/plan/detail/part.h"
#include "planner/window/check.h"
#include "planner/window/checked_bound.h"

namespace berth::planner {
namespace {

constexpr int kSmallFleet = 8;  ///< GPUs up to which each is also solved separately
constexpr int kTinyFleet = 2;   ///< GPUs up to which all have their turn in each plan
constexpr int kRoundsMax = 2;
constexpr double kObjectiveGainLeast = 1e-7;  ///< of the objective: less is rounding
constexpr double kPartGap = 0.002;

/// Solves one GPU at a time, among those whose turn it is, with the others outside, while that gains.
void solve_each_in_turn(const Problem& problem, const SearchLimits& limits, Answer& answer) {
  const int gpus = static_cast<int>(problem.gpus.size());
  const SearchLimits part_limits{.nodes_max = limits.nodes_max / gpus / kRoundsMax, .gap = kPartGap};
  const auto is_left_out = [&](GpuIndex gpu) { return gpus > kTinyFleet && !limits.is_turn_of(gpu, gpus); };
  int unchanged = 0;
  for (int turn = 0; turn < gpus * kRoundsMax && unchanged < gpus; ++turn, ++unchanged) {
    const GpuIndex gpu(turn % gpus);
    if (is_left_out(gpu)) continue;
    const Answer part =
        solve_one_gpu(part_of(problem, answer.schedule, gpu), part_limits, {{answer.schedule.gpus[gpu]}});
    answer.nodes += part.nodes;
    if (part.is_infeasible) continue;
    Schedule tried = answer.schedule;
    tried.gpus[gpu] = part.schedule.gpus.front();
    if (find_fault(problem, tried)) continue;  // budgets and floors of a part are only nearly those of the whole
    const double objective = evaluate(problem, tried).objective;
    if (objective <= answer.objective * (1 + kObjectiveGainLeast)) continue;
    answer.schedule = std::move(tried);
    answer.objective = objective;
    unchanged = -1;
  }
  answer.bound = checked_bound(answer.bound, answer.objective);
}

/// Takes over a schedule that keeps all floors, where that of the answer does not.
void complete(const Problem& problem, Schedule schedule, Answer& answer) {
  answer.schedule = std::move(schedule);
  answer.objective = evaluate(problem, answer.schedule).objective;
  answer.bound = checked_bound(answer.bound, answer.objective);
  answer.misses_floors = answer.is_infeasible = answer.is_infeasibility_proven = false;
}

/// A slice where there is room for each service that is short of its number.
void add_slices(const Problem& problem, Answer& answer) {
  Schedule more = with_missing_slices(problem, answer.schedule);
  if (!find_fault(problem, more)) return complete(problem, std::move(more), answer);
  if (answer.is_infeasible) return;
  answer.schedule = std::move(more);
  answer.objective = evaluate(without_floors(problem), answer.schedule).objective;
}

/// A schedule that keeps all floors by changes of one GPU, which is solved for that alone. Numbers of slices are often
/// met by one slice in the place of another one.
void repair_one_gpu(const Problem& problem, const SearchLimits& limits, Answer& answer) {
  const SearchLimits part_limits{.nodes_max = limits.nodes_max / static_cast<std::int64_t>(problem.gpus.size()),
                                 .gap = kPartGap};
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    const Answer part = solve_one_gpu(part_of(problem, answer.schedule, gpu), part_limits, {});
    answer.nodes += part.nodes;
    if (part.is_infeasible) continue;
    Schedule tried = answer.schedule;
    tried.gpus[gpu] = part.schedule.gpus.front();
    if (find_fault(problem, tried)) continue;
    return complete(problem, std::move(tried), answer);
  }
}

}  // namespace

Answer solve(const Problem& problem, const SearchLimits& limits, const Schedule& known) {
  if (problem.gpus.size() == 1) return solve_one_gpu(problem, limits, known);
  Answer answer = solve_fleet(problem, limits, known);
  const bool counts = std::ranges::any_of(problem.services, &ServiceTerms::counts_slices);
  if (counts && answer.misses_floors) add_slices(problem, answer);
  if (counts && answer.misses_floors && problem.gpus.size() <= kSmallFleet) repair_one_gpu(problem, limits, answer);
  const bool is_sound = !answer.is_infeasible && !answer.misses_floors;
  if (is_sound && problem.gpus.size() <= kSmallFleet) solve_each_in_turn(problem, limits, answer);
  return answer;
}

}  // namespace berth::planner
