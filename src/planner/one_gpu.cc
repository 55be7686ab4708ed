#include "planner/one_gpu.h"

#include <algorithm>
#include <cmath>

#include "base/ensure.h"
#include "planner/check.h"
#include "planner/detail/gpu_case.h"
#include "planner/detail/one_gpu_search.h"
#include "planner/detail/pool.h"
#include "planner/detail/price_search.h"

namespace berth::planner {
namespace {

/// A relative gap that counts as none: sums of thousands of terms.
constexpr double kProven = 1e-10;
/// Blocks of prices in a window.
constexpr int kBlocks = 25;

/// A pass that leaves out less than the one before, and how often the prices are improved before it.
struct Stage {
  int rounds = 0;
  PassLimits limits;
};

constexpr int kAll = 1 << 29;

std::vector<Stage> stages(int slots) {
  // Rounds of short windows are cheap.
  const int more = std::clamp(100 / std::max(slots, 1), 1, 5);
  return {
      {.rounds = 0,
       .limits = {.width = 12, .changes_max = 0, .placings_max = 1, .is_from_pool = true, .stride = slots / 12 + 1}},
      {.rounds = 3 * more,
       .limits = {.width = 30, .changes_max = 0, .placings_max = 1, .is_from_pool = true, .stride = slots / 50 + 1}},
      {.rounds = 6 * more, .limits = {.width = 6, .changes_max = 4, .placings_max = 2, .stride = slots / 50 + 1}},
      {.rounds = 12 * more, .limits = {.width = 30, .changes_max = 12, .placings_max = 6}},
      {.rounds = 12 * more, .limits = {.width = 150, .changes_max = 60, .placings_max = 20}},
      {.rounds = 12 * more, .limits = {.width = kAll, .changes_max = kAll, .placings_max = kAll}},
  };
}

bool may_change(const Problem& problem) {
  for (int slot = problem.gpus.front().free_from; slot < problem.slots; ++slot) {
    if (problem.is_frozen.empty() || problem.is_frozen[static_cast<std::size_t>(slot)] == 0) return true;
  }
  return false;
}

/// What stands stays: the only schedule where no change may begin.
Answer stay(const Problem& problem) {
  Answer answer;
  answer.schedule.gpus.resize(1);
  answer.is_infeasible = find_fault(problem, answer.schedule).has_value();
  if (!answer.is_infeasible) answer.objective = answer.bound = evaluate(problem, answer.schedule).objective;
  return answer;
}

}  // namespace

Answer solve_one_gpu(const Problem& problem, const SearchLimits& limits) {
  ENSURE(problem.gpus.size() == 1);
  if (!may_change(problem)) return stay(problem);
  const GpuCase gpu_case(problem);
  OneGpuSearch search(gpu_case);
  Answer answer;
  answer.schedule.gpus.resize(1);
  if (search.value_before() == kNever) {
    answer.is_infeasible = true;
    return answer;
  }
  const int block_slots = std::max(1, (problem.slots - gpu_case.first_slot) / kBlocks);
  PriceBound bound(gpu_case, search.starts(), block_slots);
  double proven = search.value_before() + bound.value();
  const auto is_done = [&] {
    const double allowed = std::max(limits.gap, kProven) * std::abs(proven);
    return proven == kNever || (search.has_schedule() && proven - search.best_value() <= allowed);
  };
  for (const Stage& stage : stages(problem.slots)) {
    if (search.has_schedule()) bound.descend(search.best_value() - search.value_before(), 0, stage.rounds);
    proven = std::min(proven, search.value_before() + bound.value());
    if (is_done() || search.nodes() >= limits.nodes_max) break;
    if (stage.limits.is_from_pool) search.set_pool(make_pool(gpu_case, bound.prices()));
    PassLimits pass = stage.limits;
    pass.nodes_max = limits.nodes_max - search.nodes();
    search.pass(bound, pass);
    search.polish();
    proven = std::min(proven, std::max(search.best_value(), search.left_out()));
    if (is_done()) break;
  }
  answer.is_infeasible = !search.has_schedule();
  answer.objective = search.best_value();
  answer.bound = std::max(proven, answer.objective);
  answer.schedule.gpus.front() = search.best_changes();
  answer.nodes = search.nodes();
  return answer;
}

}  // namespace berth::planner
