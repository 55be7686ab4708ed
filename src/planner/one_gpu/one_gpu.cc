#include "planner/one_gpu/one_gpu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "planner/one_gpu/detail/gpu_case.h"
#include "planner/one_gpu/detail/joint_bound.h"
#include "planner/one_gpu/detail/one_gpu_search.h"
#include "planner/one_gpu/detail/pool.h"
#include "planner/one_gpu/detail/price_bound.h"
#include "planner/window/check.h"
#include "planner/window/checked_bound.h"

namespace berth::planner {
namespace {

/// A relative gap that counts as 0: values are sums of thousands of terms.
constexpr double kProven = 1e-10;
/// Limits of the joint bound: states, and slots per block.
constexpr int kStatesMax = 6000;
/// The limit of states x slots, if models become stale.
constexpr int kStatesOfSlotsMax = 2'500'000;
constexpr int kJointBlockSlotsMax = 4;
constexpr int kJointBlocks = 50;
/// The share of the bound that a change may lose at once, for each dive.
constexpr std::array<double, 2> kPatiences = {0.003, 0.01};
/// Blocks of prices in a window.
constexpr int kBlocks = 25;

/// If the last pass leaves a gap of at least this, the prices of progress are tuned for all services together, by these
/// factors.
constexpr double kLargeGap = 0.005;
constexpr std::array<double, 2> kScales = {1.6, 0.6};

/// A pass that leaves out less than the one before, and how often the prices are improved before it.
struct SearchPass {
  int rounds = 0;
  PassLimits limits;
};

constexpr int kAll = 1 << 29;

/// The rounds that improve the first prices, and the number of nodes below which they are skipped because so few nodes
/// are searched quickly.
constexpr int kTuneRounds = 4;
constexpr std::int64_t kQuickNodes = 1000;

/// `more`: multiplies the rounds.
std::vector<SearchPass> search_passes(int slots, int more) {
  return {
      {.rounds = 0,
       .limits = {.width = 12, .changes_max = 0, .placings_max = 1, .is_from_pool = true, .stride = slots / 12 + 1}},
      {.rounds = 3 * more,
       .limits = {.width = 30, .changes_max = 0, .placings_max = 1, .is_from_pool = true, .stride = slots / 50 + 1}},
      {.rounds = 6 * more, .limits = {.width = 6, .changes_max = 4, .placings_max = 2, .stride = slots / 50 + 1}},
      {.rounds = 12 * more, .limits = {.width = 30, .changes_max = 12, .placings_max = 6}},
      {.rounds = 12 * more, .limits = {.width = 150, .changes_max = 60, .placings_max = 20}},
      {.rounds = 12 * more, .limits = {.width = kAll, .changes_max = kAll, .placings_max = kAll, .with_moves = true}},
  };
}

bool may_change(const Problem& problem) {
  for (SlotIndex slot = problem.gpus.front().free_from; slot < problem.slots; ++slot) {
    if (problem.is_frozen.empty() || problem.is_frozen[static_cast<std::size_t>(slot)] == 0) return true;
  }
  return false;
}

/// The schedule without changes: the only one if no change may begin.
Answer stay(const Problem& problem) {
  Answer answer;
  answer.schedule.gpus.resize(1);
  answer.is_infeasible = answer.is_infeasibility_proven = find_fault(problem, answer.schedule).has_value();
  if (!answer.is_infeasible) answer.objective = answer.bound = evaluate(problem, answer.schedule).objective;
  return answer;
}

void fill_answer(const OneGpuSearch& search, double proven, Answer& answer) {
  answer.is_infeasible = !search.has_schedule();
  answer.is_infeasibility_proven = answer.is_infeasible && proven == kNever;
  answer.objective = search.best_value();
  answer.bound = answer.is_infeasible ? proven : checked_bound(proven, answer.objective);
  answer.schedule.gpus.front() = search.best_changes();
  answer.nodes = search.nodes();
}

std::vector<PassLimits> joint_passes(int slots) {
  return {
      {.width = 8, .changes_max = 0, .placings_max = 1, .is_from_pool = true, .stride = slots / 12 + 1},
      {.width = 20, .changes_max = 0, .placings_max = 1, .is_from_pool = true, .stride = slots / 50 + 1},
      {.width = 8, .changes_max = 6, .placings_max = 4, .stride = slots / 50 + 1},
      {.width = 30, .changes_max = 12, .placings_max = 6},
      {.width = 150, .changes_max = 60, .placings_max = 20},
      {.width = kAll, .changes_max = kAll, .placings_max = kAll, .with_moves = true},
  };
}

/// The joint bound of a case: with variants if that has few enough states, else without; may be unusable.
std::unique_ptr<JointBound> joint_bound_of(const GpuCase& gpu_case) {
  bool is_always_fresh = true;
  for (const ServiceTerms& terms : gpu_case.problem.services) {
    is_always_fresh = is_always_fresh && !terms.retraining;
  }
  const int states_max = is_always_fresh ? kStatesMax : kStatesOfSlotsMax / std::max(1, gpu_case.problem.slots);
  auto joint = std::make_unique<JointBound>(gpu_case, Variants::kKept, states_max);
  if (!joint->is_usable()) joint = std::make_unique<JointBound>(gpu_case, Variants::kFree, states_max);
  return joint;
}

/// The bound of a case in steps: first prices, if some model may be stale, then all services together.
class Bounds {
 public:
  Bounds(const GpuCase& gpu_case, OneGpuSearch& search)
      : case_(gpu_case), search_(search), joint_(joint_bound_of(gpu_case)) {
    for (const ServiceStart& start : search.starts()) {
      standing_.push_back(start.bundle);
      models_.push_back(start.state);
    }
  }

  [[nodiscard]] bool is_joint_alone() const { return joint_->is_usable() && joint_->is_always_fresh(); }
  [[nodiscard]] bool may_join() const { return joint_->is_usable(); }

  /// Uses the joint bound for the search, and returns it for the whole window.
  double join(const PriceBound* prices) {
    const double value = compute(prices);
    search_.set_bound(*joint_);
    return value;
  }

  /// The same, with the price of each service's progress scaled by the best of some factors.
  double tune(const PriceBound& prices) {
    std::vector<double> best(case_.problem.services.size(), 1.0);
    double least = compute(&prices);
    for (const ServiceIndex service : indices_of<ServiceIndex>(best)) {
      if (!prices.service(service).retrains()) continue;
      std::vector<double> scales = best;
      for (const double scale : kScales) {
        scales[service] = best[service] * scale;
        joint_->set_progress_scales(scales);
        const double value = compute(&prices);
        if (value >= least) continue;
        least = value;
        best[service] = scales[service];
      }
    }
    joint_->set_progress_scales(std::move(best));
    return join(&prices);
  }

 private:
  double compute(const PriceBound* prices) {
    const int slots = case_.problem.slots - case_.first_slot;
    joint_->compute(std::clamp(slots / kJointBlocks, 1, kJointBlockSlotsMax), standing_, prices);
    return search_.value_before() + joint_->from(case_.first_slot, joint_->state_of(standing_), models_, false);
  }

  const GpuCase& case_;
  OneGpuSearch& search_;
  std::unique_ptr<JointBound> joint_;
  std::vector<BundleIndex> standing_;
  std::vector<ModelState> models_;
};

/// The bound proven so far, and whether it is good enough.
struct Proof {
  double bound = 0;
  double gap = 0;

  void lower(double other) { bound = std::min(bound, other); }
  [[nodiscard]] double gap_of(const OneGpuSearch& search) const {
    return (bound - search.best_value()) / std::max(std::abs(bound), kProven);
  }
  [[nodiscard]] bool is_done(const OneGpuSearch& search) const {
    const double allowed = std::max(gap, kProven) * std::abs(bound);
    return bound == kNever || (search.has_schedule() && bound - search.best_value() <= allowed);
  }
};

void run_pass(OneGpuSearch& search, PassLimits pass, const SearchLimits& limits, Proof& proof) {
  pass.nodes_max = limits.nodes_max - search.nodes();
  search.pass(pass);
  search.polish();
  proof.lower(std::max(search.best_value(), search.left_out()));
}

/// Solves a case in which all models stay fresh.
double solve_jointly(const GpuCase& gpu_case, const SearchLimits& limits, Bounds& bounds, OneGpuSearch& search) {
  Proof proof{.bound = bounds.join(nullptr), .gap = limits.gap};
  const auto is_over = [&] { return proof.is_done(search) || search.nodes() >= limits.nodes_max; };
  for (const double patience : kPatiences) {
    if (is_over()) break;
    search.dive(patience, {.width = 1, .changes_max = 8, .placings_max = 3, .nodes_max = limits.nodes_max / 4});
    search.polish();
  }
  if (!is_over()) search.set_pool(make_pool(gpu_case, {}));
  for (const PassLimits& pass : joint_passes(gpu_case.problem.slots)) {
    if (is_over()) break;
    run_pass(search, pass, limits, proof);
  }
  return proof.bound;
}

double solve_by_prices(const GpuCase& gpu_case, const SearchLimits& limits, Bounds& bounds, OneGpuSearch& search) {
  const int block_slots = std::max(1, (gpu_case.problem.slots - gpu_case.first_slot) / kBlocks);
  PriceBound prices(gpu_case, search.starts(), block_slots, limits.nodes_max < kQuickNodes ? 0 : kTuneRounds);
  search.set_bound(prices);
  Proof proof{.bound = search.value_before() + prices.value(), .gap = limits.gap};
  const auto is_over = [&] { return proof.is_done(search) || search.nodes() >= limits.nodes_max; };
  // Rounds of short windows are cheap; with the joint bound few rounds suffice.
  const int more = bounds.may_join() ? 1 : std::clamp(100 / std::max(gpu_case.problem.slots, 1), 1, 5);
  bool is_joined = !bounds.may_join();
  for (const SearchPass& pass : search_passes(gpu_case.problem.slots, more)) {
    if (search.nodes() >= limits.nodes_max) break;
    if (search.has_schedule()) prices.descend(search.best_value() - search.value_before(), 0, pass.rounds);
    proof.lower(search.value_before() + prices.value());
    if (is_over()) break;
    const bool is_last = pass.limits.width == kAll;
    if (!is_joined && !pass.limits.is_from_pool) {
      proof.lower(bounds.join(&prices));
      is_joined = true;
    } else if (is_last && bounds.may_join() && proof.gap_of(search) > kLargeGap) {
      proof.lower(bounds.tune(prices));
    }
    if (pass.limits.is_from_pool) search.set_pool(make_pool(gpu_case, prices.prices()));
    if (is_over()) break;
    run_pass(search, pass.limits, limits, proof);
    if (proof.is_done(search)) break;
  }
  search.forget_bounds();
  return proof.bound;
}

}  // namespace

Answer solve_one_gpu(const Problem& problem, const SearchLimits& limits, const Schedule& known) {
  ENSURE(problem.gpus.size() == 1);
  if (!may_change(problem)) return stay(problem);
  const GpuCase gpu_case(problem);
  OneGpuSearch search(gpu_case);
  Answer answer;
  answer.schedule.gpus.resize(1);
  if (search.value_before() == kNever) {
    answer.is_infeasible = answer.is_infeasibility_proven = true;
    return answer;
  }
  search.set_gap(limits.gap);
  const Schedule stays{.gpus = {{}}};
  for (const Schedule& start : {stays, known}) {
    if (!start.gpus.empty() && !find_fault(problem, start)) search.offer(start.gpus.front());
  }
  Bounds bounds(gpu_case, search);
  const bool is_joint = bounds.is_joint_alone();
  const double proven =
      is_joint ? solve_jointly(gpu_case, limits, bounds, search) : solve_by_prices(gpu_case, limits, bounds, search);
  fill_answer(search, proven, answer);
  return answer;
}

}  // namespace berth::planner
