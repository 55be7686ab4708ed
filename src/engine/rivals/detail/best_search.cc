#include "engine/rivals/detail/best_search.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace berth::partition::detail {
namespace {

using Mask = std::uint32_t;

std::int64_t add_saturated(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

/// The slices of one service if it held the pieces of `mask` on this GPU in addition to its slices on others.
std::vector<Slice> slices_with(const Partition& partition, int gpu, Mask mask, const std::vector<Slice>& elsewhere) {
  std::vector<Slice> slices = elsewhere;
  for (std::size_t i = 0; i < partition.pieces.size(); ++i) {
    if ((mask >> i & 1) == 0) continue;
    slices.push_back({{static_cast<std::uint32_t>(gpu)}, partition.pieces[i].start, partition.pieces[i].profile});
  }
  std::ranges::sort(slices);
  return slices;
}

bool can_serve_all(const ModelView& view, const Partition& partition, Mask mask, int service) {
  for (std::size_t i = 0; i < partition.pieces.size(); ++i) {
    if ((mask >> i & 1) != 0 && !view.can_serve(partition.pieces[i].kind, service)) return false;
  }
  return true;
}

/// Calls `visit(service, mask, slices)` for every service and every mask of the partition's pieces that it can serve.
void for_each_share(const ModelView& view, const Partition& partition, int gpu,
                    const std::vector<std::vector<Slice>>& elsewhere,
                    const std::function<void(int, Mask, const std::vector<Slice>&)>& visit) {
  const Mask end = Mask{1} << partition.pieces.size();
  for (int service = 0; service < static_cast<int>(elsewhere.size()); ++service) {
    for (Mask mask = 0; mask < end; ++mask) {
      if (!can_serve_all(view, partition, mask, service)) continue;
      visit(service, mask, slices_with(partition, gpu, mask, elsewhere[service]));
    }
  }
}

/// The state of the search: the current plan and its worth.
class Climb {
 public:
  Climb(const FleetView& fleet, const StaticBestSearch& search, Scorer& scorer, const ClimbStart& start)
      : fleet_(fleet),
        search_(search),
        scorer_(scorer),
        evaluations_end_(scorer.evaluations() + start.evaluations_max),
        gpu_first_(start.gpu_first) {}

  [[nodiscard]] std::optional<ClimbResult> run(FleetPlan start);

 private:
  [[nodiscard]] bool is_spent() const { return evaluations_left() <= 0 || scorer_.is_spent(); }
  [[nodiscard]] int evaluations_left() const {
    return std::min(evaluations_end_ - scorer_.evaluations(), scorer_.evaluations_left());
  }
  /// Takes the candidate if it is better.
  bool try_plan(const FleetPlan& candidate);
  bool recut_all();
  /// Whether the plan was improved; nothing if the necessary scores do not fit the budget.
  std::optional<bool> recut_separable(int gpu);
  std::optional<bool> recut_by_plans(int gpu);
  bool hand_over_all();
  /// Services with the smallest value first; in the file's order if values are not known for each service.
  [[nodiscard]] std::vector<int> services_by_need();
  /// The pieces of an owner, (GPU, position); if services are separable, only the first of each kind.
  [[nodiscard]] std::vector<std::pair<int, std::size_t>> offers_of(int owner) const;
  [[nodiscard]] bool can_take(int gpu, std::size_t piece, int owner) const;
  bool swap_all();
  bool swap_on(int gpu_a, int gpu_b);

  const FleetView& fleet_;
  const StaticBestSearch& search_;
  Scorer& scorer_;
  int evaluations_end_;
  int gpu_first_;
  ClimbResult found_;
};

std::optional<ClimbResult> Climb::run(FleetPlan start) {
  const auto worth = scorer_.plan_worth(start);
  if (!worth) return std::nullopt;
  found_ = {std::move(start), *worth, 1};
  // Every round but the last one improves the plan, so the rounds end; the budget bounds them, too.
  bool is_better_plan = true;
  while (is_better_plan && !is_spent()) {
    is_better_plan = recut_all();
    if (!is_better_plan) is_better_plan = hand_over_all();
    if (!is_better_plan) is_better_plan = swap_all();
  }
  return found_;
}

bool Climb::try_plan(const FleetPlan& candidate) {
  if (is_spent()) return false;
  const auto worth = scorer_.plan_worth(candidate);
  if (!worth) return false;
  found_.tried = add_saturated(found_.tried, 1);
  if (!is_better(*worth, found_.worth)) return false;
  found_.plan = candidate;
  found_.worth = *worth;
  return true;
}

bool Climb::recut_all() {
  bool is_better_plan = false;
  // If the scores for one GPU do not fit the budget, neither do those for equal GPUs.
  std::vector<bool> is_too_expensive(fleet_.models.size(), false);
  for (int i = 0; i < fleet_.gpu_count() && !is_spent(); ++i) {
    const int gpu = (gpu_first_ + i) % fleet_.gpu_count();
    const int model = fleet_.model_of[gpu];
    if (is_too_expensive[model]) continue;
    const auto is_recut = search_.is_separable ? recut_separable(gpu) : recut_by_plans(gpu);
    is_too_expensive[model] = !is_recut;
    is_better_plan = is_better_plan || is_recut.value_or(false);
  }
  return is_better_plan;
}

std::optional<bool> Climb::recut_separable(int gpu) {
  const ModelView& view = fleet_.of_gpu(gpu);
  const std::int64_t slices = std::max(fleet_.service_count, owned_count(found_.plan));
  for (const int shape : view.shapes) scorer_.add_work(slices << view.partitions[shape].pieces.size());
  const auto recut = best_recut(fleet_, scorer_, found_.plan, gpu, view.shapes, evaluations_left());
  if (!recut) return std::nullopt;
  found_.tried = add_saturated(found_.tried, recut->covered);
  if (!is_better(recut->worth, found_.worth)) return false;
  found_.plan[gpu] = recut->plan;
  found_.worth = recut->worth;
  return true;
}

std::optional<bool> Climb::recut_by_plans(int gpu) {
  const std::size_t count_max = static_cast<std::size_t>(evaluations_left());
  const std::vector<GpuPlan> plans = distinct_plans(fleet_.of_gpu(gpu), fleet_.service_count, count_max);
  if (plans.size() > count_max) return std::nullopt;
  bool is_better_plan = false;
  FleetPlan candidate = found_.plan;
  for (const GpuPlan& plan : plans) {
    candidate[gpu] = plan;
    if (try_plan(candidate)) is_better_plan = true;
  }
  return is_better_plan;
}

std::vector<int> Climb::services_by_need() {
  std::vector<std::pair<double, int>> values;
  const auto slices = slices_by_service(fleet_, found_.plan);
  for (int service = 0; service < fleet_.service_count; ++service) {
    const auto worth = search_.is_separable ? scorer_.service_worth(service, slices[service]) : std::nullopt;
    values.emplace_back(worth ? worth->value : 0.0, service);
  }
  std::ranges::sort(values);
  std::vector<int> order;
  order.reserve(values.size());
  for (const auto& value : values) order.push_back(value.second);
  return order;
}

std::vector<std::pair<int, std::size_t>> Climb::offers_of(int owner) const {
  std::set<std::pair<int, int>> seen;
  std::vector<std::pair<int, std::size_t>> offers;
  for (int gpu = 0; gpu < fleet_.gpu_count(); ++gpu) {
    for (std::size_t i = 0; i < found_.plan[gpu].owners.size(); ++i) {
      if (found_.plan[gpu].owners[i] != owner) continue;
      const int kind = fleet_.of_gpu(gpu).partitions[found_.plan[gpu].partition].pieces[i].kind;
      if (search_.is_separable && !seen.emplace(fleet_.model_of[gpu], kind).second) continue;
      offers.emplace_back(gpu, i);
    }
  }
  return offers;
}

bool Climb::can_take(int gpu, std::size_t piece, int owner) const {
  const ModelView& view = fleet_.of_gpu(gpu);
  return owner == kNoOwner || view.can_serve(view.partitions[found_.plan[gpu].partition].pieces[piece].kind, owner);
}

bool Climb::hand_over_all() {
  std::vector<int> takers = services_by_need();
  std::vector<int> givers = {kNoOwner};
  givers.insert(givers.end(), takers.rbegin(), takers.rend());
  takers.push_back(kNoOwner);
  bool is_better_plan = false;
  for (const int taker : takers) {
    for (const int giver : givers) {
      if (giver == taker || is_spent()) continue;
      scorer_.add_work(fleet_.gpu_count());
      for (const auto& [gpu, piece] : offers_of(giver)) {
        if (!can_take(gpu, piece, taker) || found_.plan[gpu].owners[piece] != giver) continue;
        FleetPlan candidate = found_.plan;
        candidate[gpu].owners[piece] = taker;
        if (try_plan(candidate)) is_better_plan = true;
      }
    }
  }
  return is_better_plan;
}

bool Climb::swap_all() {
  bool is_better_plan = false;
  for (int a = 0; a < fleet_.gpu_count() && !is_spent(); ++a) {
    for (int b = a; b < fleet_.gpu_count() && !is_spent(); ++b) {
      if (swap_on(a, b)) is_better_plan = true;
    }
  }
  return is_better_plan;
}

bool Climb::swap_on(int gpu_a, int gpu_b) {
  bool is_better_plan = false;
  for (std::size_t i = 0; i < found_.plan[gpu_a].owners.size(); ++i) {
    for (std::size_t j = gpu_a == gpu_b ? i + 1 : 0; j < found_.plan[gpu_b].owners.size(); ++j) {
      const int owner_a = found_.plan[gpu_a].owners[i];
      const int owner_b = found_.plan[gpu_b].owners[j];
      scorer_.add_work(1);
      if (owner_a == owner_b || !can_take(gpu_a, i, owner_b) || !can_take(gpu_b, j, owner_a)) continue;
      FleetPlan candidate = found_.plan;
      std::swap(candidate[gpu_a].owners[i], candidate[gpu_b].owners[j]);
      if (try_plan(candidate)) is_better_plan = true;
    }
  }
  return is_better_plan;
}

}  // namespace

std::optional<Recut> best_recut(const FleetView& fleet, Scorer& scorer, const FleetPlan& plan, int gpu,
                                const std::vector<int>& partitions, int evaluations_max) {
  const ModelView& view = fleet.of_gpu(gpu);
  FleetPlan others = plan;
  std::ranges::fill(others[gpu].owners, kNoOwner);
  const auto elsewhere = slices_by_service(fleet, others);

  std::set<Scorer::Key> unknown;
  for (const int partition : partitions) {
    for_each_share(view, view.partitions[partition], gpu, elsewhere,
                   [&](int service, Mask, const std::vector<Slice>& slices) {
                     if (scorer.is_unknown(service, slices)) unknown.insert(scorer.key_of(service, slices));
                   });
  }
  if (static_cast<std::int64_t>(unknown.size()) > evaluations_max) return std::nullopt;

  std::optional<Recut> best;
  std::int64_t covered = 0;
  for (const int partition : partitions) {
    const std::size_t piece_count = view.partitions[partition].pieces.size();
    WorthTable worth(fleet.service_count, std::vector<Worth>(std::size_t{1} << piece_count, {kImpossible, 0, 0}));
    for_each_share(view, view.partitions[partition], gpu, elsewhere,
                   [&](int service, Mask mask, const std::vector<Slice>& slices) {
                     worth[service][mask] = *scorer.service_worth(service, slices);
                   });
    Assignment assignment = best_assignment(worth, piece_count);
    covered = add_saturated(covered, assignment_count(view, view.partitions[partition], fleet.service_count));
    if (!best || is_better(assignment.worth, best->worth)) {
      best = Recut{{partition, std::move(assignment.owners)}, assignment.worth, 0};
    }
  }
  best->covered = covered;
  return best;
}

std::optional<ClimbResult> climb(const FleetView& fleet, const StaticBestSearch& search, Scorer& scorer,
                                 ClimbStart start) {
  return Climb(fleet, search, scorer, start).run(std::move(start.plan));
}

}  // namespace berth::partition::detail
