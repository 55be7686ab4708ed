#include "engine/rivals/detail/even_search.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/rivals/detail/open_gpus.h"

namespace berth::partition::detail {
namespace {

constexpr int kPassesMax = 8;
/// The maximum number of assignments of owners that a pass over all GPUs, or all perturbations together, enumerates.
constexpr std::int64_t kAssignmentsMax = 300'000;

/// Larger fleets are not perturbed: they reach nearly even plans without it.
constexpr int kKickedGpusMax = 8;

enum class Goal { kMostSms, kDeviation, kSpread };

/// Smaller is better.
struct Unevenness {
  std::int64_t uncovered = 0;  ///< services without a piece
  std::int64_t difference = 0;
  std::int64_t minus_sms = 0;
  friend auto operator<=>(const Unevenness&, const Unevenness&) = default;
};

/// A plan with its sums, and the only move: to repartition a GPU.
class EvenSearch {
 public:
  /// Owners of a GPU are enumerated if that takes at most `assignments_max` over all GPUs, or if there is one GPU.
  EvenSearch(const FleetView& fleet, FleetPlan plan, std::int64_t assignments_max = kAssignmentsMax)
      : fleet_(fleet),
        plan_(std::move(plan)),
        assignments_max_(assignments_max),
        sums_(fleet.service_count, 0),
        piece_counts_(fleet.service_count, 0) {
    for (int gpu = 0; gpu < fleet_.gpu_count(); ++gpu) add(gpu, plan_[gpu], 1);
  }

  /// Reassigns every GPU, the last one first (the first ones hold the cover), with as few pieces as possible while
  /// every service keeps one.
  void fill();
  /// Repartitions GPU after GPU until a pass gains nothing, for at most kPassesMax passes.
  void descend(Goal goal, int gpu_first);
  /// Gives a GPU another shape, and each piece, largest first, to the service with the smallest sum.
  void kick(int gpu, int shape);
  [[nodiscard]] Unevenness unevenness(Goal goal) const;
  [[nodiscard]] const FleetPlan& plan() const { return plan_; }

 private:
  void add(int gpu, const GpuPlan& gpu_plan, int sign);
  /// Replaces the GPU's plan by the best candidate if that is better than `best` (the value of its plan before, or
  /// none).
  bool recut(int gpu, Goal goal, bool is_exact, std::optional<Unevenness> best);
  void consider(int gpu, Goal goal, const GpuPlan& candidate);
  /// Owners for pieces from `position` on, equal pieces in ascending order of owners, unowned last.
  void enumerate(int gpu, Goal goal, GpuPlan& candidate, std::size_t position);
  [[nodiscard]] GpuPlan deal(int gpu, int partition);
  void leave_out(int gpu, Goal goal, GpuPlan candidate);

  const FleetView& fleet_;
  FleetPlan plan_;
  std::int64_t assignments_max_;
  std::vector<std::int64_t> sums_;
  std::vector<int> piece_counts_;
  std::optional<Unevenness> best_;  ///< of the repartition under way
  GpuPlan best_plan_;
};

void EvenSearch::add(int gpu, const GpuPlan& gpu_plan, int sign) {
  const ModelView& view = fleet_.of_gpu(gpu);
  for (std::size_t i = 0; i < gpu_plan.owners.size(); ++i) {
    const int owner = gpu_plan.owners[i];
    if (owner == kNoOwner) continue;
    sums_[owner] += std::int64_t{sign} * view.map.kinds[view.partitions[gpu_plan.partition].pieces[i].kind].sms;
    piece_counts_[owner] += sign;
  }
}

Unevenness EvenSearch::unevenness(Goal goal) const {
  std::int64_t total = 0;
  std::int64_t squares = 0;
  for (const std::int64_t sum : sums_) {
    total += sum;
    squares += sum * sum;
  }
  const auto [least, most] = std::ranges::minmax(sums_);
  std::int64_t difference = 0;
  if (goal == Goal::kSpread) difference = most - least;
  if (goal == Goal::kDeviation) difference = static_cast<std::int64_t>(sums_.size()) * squares - total * total;
  return {std::ranges::count(piece_counts_, 0), difference, -total};
}

void EvenSearch::consider(int gpu, Goal goal, const GpuPlan& candidate) {
  add(gpu, candidate, 1);
  const Unevenness value = unevenness(goal);
  add(gpu, candidate, -1);
  if (best_ && value >= *best_) return;
  best_ = value;
  best_plan_ = candidate;
}

void EvenSearch::enumerate(int gpu, Goal goal, GpuPlan& candidate, std::size_t position) {
  const ModelView& view = fleet_.of_gpu(gpu);
  const std::vector<mig::Site>& pieces = view.partitions[candidate.partition].pieces;
  if (position == pieces.size()) {
    consider(gpu, goal, candidate);
    return;
  }
  const int kind = pieces[position].kind;
  int first = 0;
  for (std::size_t before = 0; before < position; ++before) {
    if (pieces[before].kind != kind) continue;
    first = candidate.owners[before] == kNoOwner ? fleet_.service_count : candidate.owners[before];
  }
  for (int owner = first; owner < fleet_.service_count; ++owner) {
    if (!view.can_serve(kind, owner)) continue;
    candidate.owners[position] = owner;
    enumerate(gpu, goal, candidate, position + 1);
  }
  candidate.owners[position] = kNoOwner;
  enumerate(gpu, goal, candidate, position + 1);
}

GpuPlan EvenSearch::deal(int gpu, int partition) {
  const ModelView& view = fleet_.of_gpu(gpu);
  const std::vector<mig::Site>& pieces = view.partitions[partition].pieces;
  std::vector<std::size_t> order(pieces.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-view.map.kinds[pieces[i].kind].sms, i); });

  GpuPlan dealt{partition, std::vector<int>(pieces.size(), kNoOwner)};
  std::vector<std::int64_t> sums = sums_;
  for (const std::size_t i : order) {
    int smallest = kNoOwner;
    for (int service = 0; service < fleet_.service_count; ++service) {
      if (!view.can_serve(pieces[i].kind, service)) continue;
      if (smallest == kNoOwner || sums[service] < sums[smallest]) smallest = service;
    }
    if (smallest == kNoOwner) continue;
    dealt.owners[i] = smallest;
    sums[smallest] += view.map.kinds[pieces[i].kind].sms;
  }
  return dealt;
}

void EvenSearch::leave_out(int gpu, Goal goal, GpuPlan candidate) {
  for (int& owner : candidate.owners) {
    const int dealt = std::exchange(owner, kNoOwner);
    consider(gpu, goal, candidate);
    if (best_plan_ != candidate) owner = dealt;
  }
}

bool EvenSearch::recut(int gpu, Goal goal, bool is_exact, std::optional<Unevenness> best) {
  const ModelView& view = fleet_.of_gpu(gpu);
  add(gpu, plan_[gpu], -1);
  best_ = best;
  best_plan_ = plan_[gpu];
  for (const int partition : view.shapes) {
    if (is_exact) {
      GpuPlan candidate{partition, std::vector<int>(view.partitions[partition].pieces.size(), kNoOwner)};
      enumerate(gpu, goal, candidate, 0);
    } else {
      const GpuPlan dealt = deal(gpu, partition);
      consider(gpu, goal, dealt);
      if (best) leave_out(gpu, goal, dealt);
    }
  }
  const bool is_changed = best_plan_ != plan_[gpu];
  plan_[gpu] = best_plan_;
  add(gpu, plan_[gpu], 1);
  return is_changed;
}

void EvenSearch::fill() {
  for (int gpu = fleet_.gpu_count(); gpu-- > 0;) recut(gpu, Goal::kMostSms, /*is_exact=*/false, std::nullopt);
}

/// The number of assignments of owners that `enumerate` visits on one GPU, saturating at kAssignmentsMax + 1.
std::int64_t assignment_count(const ModelView& view, int service_count) {
  std::int64_t total = 0;
  for (const int shape : view.shapes) {
    std::int64_t product = 1;
    for (std::size_t kind = 0; kind < view.map.kinds.size(); ++kind) {
      std::int64_t owners = 1;
      for (int service = 0; service < service_count; ++service)
        owners += view.can_serve(static_cast<int>(kind), service);
      std::int64_t multisets = 1;
      for (std::int64_t i = 0; i < view.partitions[shape].counts[kind]; ++i) {
        multisets = std::min(multisets * (owners + i) / (i + 1), kAssignmentsMax + 1);
      }
      product = std::min(product * multisets, kAssignmentsMax + 1);
    }
    total = std::min(total + product, kAssignmentsMax + 1);
  }
  return total;
}

void EvenSearch::kick(int gpu, int shape) {
  add(gpu, plan_[gpu], -1);
  plan_[gpu] = deal(gpu, shape);
  add(gpu, plan_[gpu], 1);
}

void EvenSearch::descend(Goal goal, int gpu_first) {
  std::vector<bool> is_exact;
  is_exact.reserve(fleet_.models.size());
  for (const ModelView& view : fleet_.models) {
    is_exact.push_back(fleet_.gpu_count() == 1 ||
                       assignment_count(view, fleet_.service_count) * fleet_.gpu_count() <= assignments_max_);
  }
  for (int pass = 0; pass < kPassesMax; ++pass) {
    bool is_changed = false;
    for (int i = 0; i < fleet_.gpu_count(); ++i) {
      const int gpu = (gpu_first + i) % fleet_.gpu_count();
      if (recut(gpu, goal, is_exact[fleet_.model_of[gpu]], unevenness(goal))) is_changed = true;
    }
    if (!is_changed) return;
  }
}

bool can_serve_all(const ModelView& view, int kind, int service_count) {
  for (int service = 0; service < service_count; ++service) {
    if (!view.can_serve(kind, service)) return false;
  }
  return true;
}

/// The shape with the most pieces of a kind.
int shape_with_most(const ModelView& view, int kind) {
  return *std::ranges::max_element(view.shapes, {}, [&](int shape) { return view.partitions[shape].counts[kind]; });
}

/// Equal pieces assigned in rounds, one to each service: whole GPUs while a model has enough for a round, then the next
/// smaller kind, and so on; pieces left over stay unowned. Nothing if there is not even one round.
std::optional<FleetPlan> rounds_plan(const FleetView& fleet) {
  FleetPlan plan = empty_plan(fleet);
  bool is_dealt = false;
  for (const ModelView& view : fleet.models) {
    std::vector<int> kinds(view.map.kinds.size());
    std::iota(kinds.begin(), kinds.end(), 0);
    std::ranges::sort(kinds, {}, [&](int kind) { return std::pair(-view.map.kinds[kind].sms, kind); });
    std::size_t next = 0;
    for (const int kind : kinds) {
      const int shape = shape_with_most(view, kind);
      const std::size_t gpus_a_round = (fleet.service_count - 1) / view.partitions[shape].counts[kind] + 1;
      if (!can_serve_all(view, kind, fleet.service_count)) continue;
      while (next + gpus_a_round <= view.gpus.size()) {
        int service = 0;
        for (std::size_t end = next + gpus_a_round; next < end; ++next) {
          GpuPlan& gpu_plan = plan[view.gpus[next]] = {shape, {}};
          for (const mig::Site& piece : view.partitions[shape].pieces) {
            gpu_plan.owners.push_back(piece.kind == kind && service < fleet.service_count ? service++ : kNoOwner);
          }
        }
        is_dealt = true;
      }
    }
  }
  return is_dealt ? std::optional(plan) : std::nullopt;
}

FleetPlan descended(const FleetView& fleet, FleetPlan start) {
  EvenSearch search(fleet, std::move(start));
  search.descend(Goal::kDeviation, 0);
  search.descend(Goal::kSpread, 0);
  return search.plan();
}

/// For small fleets: gives one GPU after another each of its shapes and lets the other GPUs adapt first; each result
/// is kept if it is better.
FleetPlan kicked(const FleetView& fleet, FleetPlan plan) {
  if (fleet.gpu_count() > kKickedGpusMax) return plan;
  std::int64_t kick_count = 0;
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu)
    kick_count += static_cast<std::int64_t>(fleet.of_gpu(gpu).shapes.size());
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    for (const int shape : fleet.of_gpu(gpu).shapes) {
      const EvenSearch before(fleet, plan, kAssignmentsMax / kick_count);
      EvenSearch search = before;
      search.kick(gpu, shape);
      search.descend(Goal::kSpread, gpu + 1);
      if (search.unevenness(Goal::kSpread) < before.unevenness(Goal::kSpread)) plan = search.plan();
    }
  }
  return plan;
}

}  // namespace

std::optional<FleetPlan> largest_first_plan(const FleetView& fleet) {
  const auto gpus = cover_services(fleet, smallest_kinds(fleet));
  if (!gpus) return std::nullopt;
  EvenSearch search(fleet, gpus->plan());
  search.fill();
  return search.plan();
}

std::optional<FleetPlan> even_plan(const FleetView& fleet) {
  if (pieces_max(fleet) < fleet.service_count) return std::nullopt;
  std::vector<FleetPlan> plans;
  if (fleet.gpu_count() == 1) {
    EvenSearch search(fleet, empty_plan(fleet));
    search.descend(Goal::kSpread, 0);
    plans.push_back(search.plan());
  } else {
    if (auto start = largest_first_plan(fleet)) plans.push_back(kicked(fleet, descended(fleet, std::move(*start))));
    if (auto start = rounds_plan(fleet)) plans.push_back(kicked(fleet, descended(fleet, std::move(*start))));
  }
  const FleetPlan* best = nullptr;
  std::optional<Unevenness> least;
  for (const FleetPlan& plan : plans) {
    const Unevenness value = EvenSearch(fleet, plan).unevenness(Goal::kSpread);
    if (value.uncovered > 0 || (least && value >= *least)) continue;
    best = &plan;
    least = value;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

}  // namespace berth::partition::detail
