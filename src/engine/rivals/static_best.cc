#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "engine/rivals/detail/best_search.h"
#include "engine/rivals/detail/even_search.h"
#include "engine/rivals/detail/open_gpus.h"
#include "engine/rivals/detail/scorer.h"
#include "engine/rivals/layout.h"

namespace berth::partition {
namespace {

using detail::ClimbResult;
using detail::FleetPlan;
using detail::FleetView;
using detail::Scorer;

/// The maximum number of perturbations after the starts, while the budget lasts.
constexpr int kKicksMax = 60;

/// The optimum of one GPU over every maximal placed layout, if the figures of services add up.
StaticBest best_on_one_gpu(const FleetView& fleet, const StaticBestSearch& search) {
  constexpr int kNoLimit = std::numeric_limits<int>::max();
  Scorer scorer(fleet, search, kNoLimit);
  std::vector<int> partitions(fleet.of_gpu(0).partitions.size());
  std::iota(partitions.begin(), partitions.end(), 0);
  const auto recut = detail::best_recut(fleet, scorer, detail::empty_plan(fleet), /*gpu=*/0, partitions, kNoLimit);
  if (recut->worth.uncovered > 0) return {detail::no_room(fleet), true, recut->covered, scorer.evaluations()};
  return {detail::layout_of(fleet, {recut->plan}), true, recut->covered, scorer.evaluations()};
}

/// The same if services influence each other: every distinct layout is scored. Nothing if there are more than the
/// budget allows.
std::optional<StaticBest> best_by_layouts(const FleetView& fleet, const StaticBestSearch& search) {
  const auto count_max = static_cast<std::size_t>(search.evaluations_max);
  const auto plans = detail::distinct_plans(fleet.of_gpu(0), fleet.service_count, count_max);
  if (plans.size() > count_max) return std::nullopt;
  Scorer scorer(fleet, search, search.evaluations_max);
  const detail::GpuPlan* best = nullptr;
  detail::Worth best_worth;
  std::int64_t tried = 0;
  for (const detail::GpuPlan& plan : plans) {
    const auto coverage = detail::slices_by_service(fleet, {plan});
    const bool is_covered = std::ranges::none_of(coverage, [](const auto& slices) { return slices.empty(); });
    if (search.serves_every_service && !is_covered) continue;
    const auto worth = scorer.plan_worth({plan});
    ++tried;
    if (best != nullptr && !detail::is_better(*worth, best_worth)) continue;
    best = &plan;
    best_worth = *worth;
  }
  if (best == nullptr) return StaticBest{detail::no_room(fleet), true, tried, scorer.evaluations()};
  return StaticBest{detail::layout_of(fleet, {*best}), true, tried, scorer.evaluations()};
}

/// A plan built GPU by GPU, each with the best partition and owners given those before it; nothing if that needs more
/// than `evaluations_max` scores.
std::optional<FleetPlan> greedy_plan(const FleetView& fleet, Scorer& scorer, int evaluations_max) {
  const int evaluations_end = scorer.evaluations() + evaluations_max;
  FleetPlan plan = detail::empty_plan(fleet);
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const int left = std::min(evaluations_end - scorer.evaluations(), scorer.evaluations_left());
    const auto recut = detail::best_recut(fleet, scorer, plan, gpu, fleet.of_gpu(gpu).shapes, left);
    if (!recut) return std::nullopt;
    plan[gpu] = recut->plan;
  }
  return plan;
}

/// Where the searches begin: the even layout, the largest-first one, and a greedy one.
std::vector<FleetPlan> starts_of(const FleetView& fleet, const StaticBestSearch& search, Scorer& scorer) {
  std::vector<FleetPlan> starts;
  if (auto plan = detail::even_plan(fleet)) starts.push_back(std::move(*plan));
  if (auto plan = detail::largest_first_plan(fleet)) starts.push_back(std::move(*plan));
  if (search.is_separable) {
    if (auto plan = greedy_plan(fleet, scorer, search.evaluations_max / 4)) starts.push_back(std::move(*plan));
  }
  if (starts.empty() && !search.serves_every_service) starts.push_back(detail::empty_plan(fleet));
  return starts;
}

/// The k-th perturbation of a plan: one GPU, in turn, gets another partition, in turn, with owners assigned round
/// robin.
FleetPlan kicked(const FleetView& fleet, FleetPlan plan, int k) {
  const int gpu = k % fleet.gpu_count();
  const detail::ModelView& view = fleet.of_gpu(gpu);
  const int partition = view.shapes[static_cast<std::size_t>(k / fleet.gpu_count()) % view.shapes.size()];
  plan[gpu] = {partition, {}};
  int next = k;
  for (const mig::Site& piece : view.partitions[partition].pieces) {
    const int owner = next++ % fleet.service_count;
    plan[gpu].owners.push_back(view.can_serve(piece.kind, owner) ? owner : detail::kNoOwner);
  }
  return plan;
}

/// Climbs from each start, dividing the budget evenly over the remaining ones, then again and again from the best plan
/// with one GPU perturbed.
StaticBest best_by_search(const FleetView& fleet, const StaticBestSearch& search) {
  Scorer scorer(fleet, search, search.evaluations_max);
  const std::vector<FleetPlan> starts = starts_of(fleet, search, scorer);
  if (starts.empty()) return {detail::no_room(fleet), false, 0, scorer.evaluations()};

  std::optional<ClimbResult> best;
  std::int64_t tried = 0;
  const auto climb_from = [&](detail::ClimbStart start) {
    auto found = detail::climb(fleet, search, scorer, std::move(start));
    if (!found) return;
    if (__builtin_add_overflow(tried, found->tried, &tried)) tried = std::numeric_limits<std::int64_t>::max();
    if (!best || detail::is_better(found->worth, best->worth)) best = std::move(found);
  };
  for (std::size_t i = 0; i < starts.size(); ++i) {
    climb_from({starts[i], scorer.evaluations_left() / static_cast<int>(starts.size() - i), 0});
  }
  for (int k = 0; best && k < kKicksMax && !scorer.is_spent(); ++k) {
    // The others adapt first, the perturbed GPU last.
    climb_from({kicked(fleet, best->plan, k), scorer.evaluations_left(), (k + 1) % fleet.gpu_count()});
  }

  // A budget below one score per service scores nothing: the even layout is the answer.
  if (!best) return {detail::layout_of(fleet, starts.front()), false, tried, scorer.evaluations()};
  if (best->worth.uncovered > 0) return {detail::no_room(fleet), false, tried, scorer.evaluations()};
  return {detail::layout_of(fleet, best->plan), false, tried, scorer.evaluations()};
}

}  // namespace

StaticBest static_best_layout(const Scenario& scenario, const StaticBestSearch& search) {
  ENSURE(search.weights.size() == scenario.services.size());
  const FleetView fleet = detail::view_fleet(scenario);
  if (auto unservable = detail::find_unservable(fleet, /*only_whole=*/false)) return {*unservable, true, 0, 0};
  if (search.serves_every_service && detail::pieces_max(fleet) < fleet.service_count) {
    return {detail::no_room(fleet), true, 0, 0};
  }
  if (fleet.gpu_count() > 1) return best_by_search(fleet, search);
  if (search.is_separable) return best_on_one_gpu(fleet, search);
  const auto exhaustive = best_by_layouts(fleet, search);
  return exhaustive ? *exhaustive : best_by_search(fleet, search);
}

}  // namespace berth::partition
