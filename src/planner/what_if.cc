#include "planner/what_if.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "one_gpu/one_gpu.h"
#include "planner/detail/part.h"
#include "planner/solve.h"
#include "window/check.h"
#include "window/checked_bound.h"

namespace berth::planner {
namespace {

/// A GPU model of its own for this GPU, in which the site is of a kind of its own; returns the rates of that kind.
std::vector<Rates>& own_kind(Problem& problem, std::size_t gpu, int site) {
  ModelTerms model = problem.models[static_cast<std::size_t>(problem.gpus[gpu].model)];
  Site& own = model.sites[static_cast<std::size_t>(site)];
  const auto kind = static_cast<std::size_t>(own.kind);
  own.kind = static_cast<int>(model.rates.size());
  model.rates.push_back(model.rates[kind]);
  model.sms.push_back(model.sms[kind]);
  problem.gpus[gpu].model = static_cast<int>(problem.models.size());
  problem.models.push_back(std::move(model));
  return problem.models.back().rates.back();
}

void ban_use(Rates& rates, int use) {
  if (use == kRetraining) {
    rates.retraining_slots = 0;
  } else {
    rates.requests_per_second[static_cast<std::size_t>(use)] = 0;
  }
}

void take_all(std::vector<Rates>& rates, double retraining_slots) {
  for (Rates& each : rates) {
    std::ranges::fill(each.requests_per_second, 0.0);
    each.retraining_slots = retraining_slots;
  }
}

void keep_standing(const Problem& problem, const Piece& piece, GpuTerms& gpu) {
  if (piece.service == kNobody) {
    gpu.free_from = problem.slots;
    return;
  }
  const PinnedSite pin{.site = piece.site, .service = piece.service};
  if (std::ranges::find(gpu.pins, pin.site, &PinnedSite::site) == gpu.pins.end()) gpu.pins.push_back(pin);
}

/// The rates of what stands are those of its site, so a piece that stands in the banned use keeps a site that gives.
bool stands_so(const GpuTerms& gpu, const Piece& piece, bool is_any_use) {
  return std::ranges::any_of(gpu.standing, [&](const StandingPiece& standing) {
    return is_any_use ? standing.piece.site == piece.site : standing.piece == piece;
  });
}

}  // namespace

Problem banned(const Problem& problem, int gpu, const Piece& piece, Ban ban) {
  Problem result = problem;
  const auto index = static_cast<std::size_t>(gpu);
  if (ban == Ban::kDestroy) {
    keep_standing(problem, piece, result.gpus[index]);
    return result;
  }
  // What stood before and comes back would have to lose its rate while it stands: it may stay, so the GPU stays as it
  // is.
  if (stands_so(problem.gpus[index], piece, ban == Ban::kCut)) {
    result.gpus[index].free_from = problem.slots;
    return result;
  }
  std::vector<Rates>& rates = own_kind(result, index, piece.site);
  if (ban == Ban::kCut) {
    take_all(rates, 0);
  } else {
    ban_use(rates[static_cast<std::size_t>(piece.service)], piece.use);
  }
  return result;
}

Problem without_rates(const Problem& problem, int gpu, int site) {
  constexpr double kNeverDone = 1e15;
  Problem result = problem;
  take_all(own_kind(result, static_cast<std::size_t>(gpu), site), kNeverDone);
  return result;
}

Answer solve_without(const Problem& problem, const Schedule& schedule, int gpu, const Piece& piece, Ban ban,
                     const SearchLimits& limits) {
  const Problem changed = banned(problem, gpu, piece, ban);
  Answer best;
  best.is_infeasible = true;
  Schedule others = schedule;
  others.gpus[static_cast<std::size_t>(gpu)].clear();
  Answer part =
      problem.gpus.size() == 1 ? solve_one_gpu(changed, limits) : solve_one_gpu(part_of(changed, others, gpu), limits);
  best.nodes = part.nodes;
  if (!part.is_infeasible) {
    others.gpus[static_cast<std::size_t>(gpu)] = part.schedule.gpus.front();
    if (!find_fault(changed, others)) {
      const double objective = evaluate(changed, others).objective;
      best.bound = objective + std::max(0.0, part.bound - part.objective);
      best.objective = objective;
      best.schedule = std::move(others);
      best.is_infeasible = false;
    }
  }
  if (problem.gpus.size() == 1 || problem.gpus.size() > kWholeFleet) return best;
  Answer whole = solve(changed, limits);
  best.nodes += whole.nodes;
  if (whole.is_infeasible || whole.misses_floors) return best;
  best.bound = best.is_infeasible ? whole.bound : checked_bound(whole.bound, best.objective);
  if (!best.is_infeasible && whole.objective <= best.objective) return best;
  const std::int64_t nodes = best.nodes;
  best = std::move(whole);
  best.nodes = nodes;
  return best;
}

}  // namespace berth::planner
