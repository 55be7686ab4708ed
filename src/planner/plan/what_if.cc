#include "planner/plan/what_if.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/core/ensure.h"
#include "planner/many_gpus/state.h"
#include "planner/one_gpu/one_gpu.h"
#include "planner/plan/detail/narrow_part.h"
#include "planner/plan/detail/part.h"
#include "planner/plan/solve.h"
#include "planner/window/check.h"
#include "planner/window/checked_bound.h"

namespace berth::planner {
namespace {

constexpr double kRounding = 1e-9;    ///< of an objective: sums in another order differ by this much
constexpr int kNarrowNodesShare = 3;  ///< a search without a bound has this fraction of the nodes

/// Gives this GPU a model of its own, in which the site has a kind of its own; returns the rates of that kind.
std::vector<Rates>& own_kind(Problem& problem, GpuIndex gpu, SiteIndex site) {
  ModelTerms model = problem.models[static_cast<std::size_t>(problem.gpus[gpu].model)];
  Site& own = model.sites[static_cast<std::size_t>(site)];
  const KindIndex kind = own.kind;
  own.kind = KindIndex(model.rates.size());
  model.rates.push_back(model.rates[kind]);
  model.sms.push_back(model.sms[kind]);
  problem.gpus[gpu].model = ModelIndex(problem.models.size());
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

void take_all(std::vector<Rates>& rates) {
  for (Rates& each : rates) {
    std::ranges::fill(each.requests_per_second, 0.0);
    each.retraining_slots = 0;
  }
}

void keep_standing(const Problem& problem, const Piece& piece, GpuTerms& gpu) {
  if (piece.service == kNoService) {
    gpu.free_from = SlotIndex(problem.slots);
    return;
  }
  const PinnedSite pin{.site = piece.site, .service = piece.service};
  if (std::ranges::find(gpu.pins, pin.site, &PinnedSite::site) == gpu.pins.end()) gpu.pins.push_back(pin);
}

/// A standing piece has the rates of its site, so one in the banned use keeps a site with rates.
bool stands_so(const GpuTerms& gpu, const Piece& piece, bool is_any_use) {
  return std::ranges::any_of(gpu.standing, [&](const StandingPiece& standing) {
    return is_any_use ? standing.piece.site == piece.site : standing.piece == piece;
  });
}

}  // namespace

Problem banned(const Problem& problem, GpuIndex gpu, const Piece& piece, Ban ban) {
  Problem result = problem;
  if (ban == Ban::kDestroy) {
    keep_standing(problem, piece, result.gpus[gpu]);
    return result;
  }
  // A piece that existed before and returns would have to lose its rate while it exists. It may stay, so the GPU does
  // not change.
  if (stands_so(problem.gpus[gpu], piece, ban == Ban::kAnyBegin)) {
    result.gpus[gpu].free_from = SlotIndex(problem.slots);
    return result;
  }
  std::vector<Rates>& rates = own_kind(result, gpu, piece.site);
  if (ban == Ban::kAnyBegin) {
    take_all(rates);
  } else {
    ban_use(rates[static_cast<std::size_t>(piece.service)], piece.use);
  }
  return result;
}

/// The plan as a fleet state, from which GPUs are taken out and put back.
class WhatIfs::Fleet {
 public:
  Fleet(const Problem& problem, const Schedule& schedule)
      : problem_(problem), schedule_(schedule), terms_(problem), state_(fleet::state_of(terms_, schedule)) {
    objective_ = state_.objective();
    score_ = state_.score();
  }

  [[nodiscard]] double objective() const { return objective_; }
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

  double worth_of_piece(GpuIndex gpu, const Piece& piece) {
    fleet::Path path = state_.path(gpu);
    std::erase_if(path.stays, [&](const fleet::Stay& stay) { return stay.piece == piece; });
    return objective_ - judged(gpu, std::move(path)).objective;
  }

  GpuWorth worth_of_changes(GpuIndex gpu) {
    GpuWorth worth;
    const PathWorth alone = judged(gpu, fleet::make_path(terms_, gpu, {}));
    if (alone.is_legal) worth.gain = objective_ - alone.objective;
    worth.rank = score_ - alone.score;
    worth.cost = judged(gpu, without_waiting(gpu)).objective - objective_;
    return worth;
  }

  std::optional<Alternative> without(GpuIndex gpu, const Piece& piece, Ban ban, const SearchLimits& limits) {
    std::optional<Alternative> best;
    consider(gpu, {}, best);
    const NarrowPart part = part_of_gpu(gpu);
    SearchLimits own_limits = limits;
    if (!part.has_all_services) own_limits.nodes_max /= kNarrowNodesShare;
    const Answer found = solve_one_gpu(banned(part.problem, GpuIndex(0), part.to_part(piece), ban), own_limits);
    nodes_ += found.nodes;
    if (!found.is_infeasible) {
      consider(gpu, part.to_fleet(found.schedule.gpus.front()), best);
      if (best && part.has_all_services) best->bound = best->objective + std::max(0.0, found.bound - found.objective);
    }
    const bool is_small = problem_.gpus.size() <= kWholeFleet && problem_.services.size() <= kServicesAll;
    if (is_small && problem_.gpus.size() > 1) solve_all(gpu, banned(problem_, gpu, piece, ban), limits, best);
    return best;
  }

 private:
  struct PathWorth {
    double objective = 0;
    double score = 0;
    bool is_legal = true;
  };

  /// The plan with another path of one GPU.
  PathWorth judged(GpuIndex gpu, fleet::Path path) {
    fleet::Path own = state_.path(gpu);
    state_.take_out(gpu);
    state_.put(gpu, std::move(path));
    const PathWorth found{.objective = state_.objective(),
                          .score = state_.score(),
                          .is_legal = state_.shortfall() <= 0 && state_.excess() <= 0};
    state_.take_out(gpu);
    state_.put(gpu, std::move(own));
    return found;
  }

  /// The path of a GPU if its changes take no time and have no price.
  [[nodiscard]] fleet::Path without_waiting(GpuIndex gpu) const {
    fleet::Path path = state_.path(gpu);
    const auto stands = std::ranges::count_if(problem_.gpus[fleet::idx(gpu)].standing, [](const StandingPiece& each) {
      return each.piece.service != kNoService;
    });
    // The stays of standing pieces come first.
    for (auto stay = path.stays.begin() + stands; stay != path.stays.end(); ++stay) stay->ready = stay->from;
    path.slices_changed = 0;
    return path;
  }

  /// Makes changes of a GPU the best alternative if they keep all rules and are better. Requires: the ban is kept.
  void consider(GpuIndex gpu, std::vector<Change> changes, std::optional<Alternative>& best) {
    const PathWorth found = judged(gpu, fleet::make_path(terms_, gpu, changes));
    if (!found.is_legal || (best && found.objective <= best->objective)) return;
    best =
        Alternative{.objective = found.objective, .bound = std::nullopt, .changes = std::move(changes), .better = {}};
    if (!is_better(found.objective)) return;
    best->better = schedule_;
    best->better->gpus[fleet::idx(gpu)] = best->changes;
  }

  [[nodiscard]] bool is_better(double objective) const {
    return objective > objective_ + kRounding * (1 + std::abs(objective_));
  }

  NarrowPart part_of_gpu(GpuIndex gpu) {
    fleet::Path own = state_.path(gpu);
    state_.take_out(gpu);
    if (gpu != narrowed_gpu_) {
      narrowed_gpu_ = gpu;
      const bool has_all = problem_.services.size() <= kServicesAll;
      services_ = likely_services(state_, gpu, has_all ? problem_.services.size() : kServicesMore);
    }
    NarrowPart part = narrow_part(state_, gpu, services_);
    state_.put(gpu, std::move(own));
    return part;
  }

  void solve_all(GpuIndex gpu, const Problem& without, const SearchLimits& limits, std::optional<Alternative>& best) {
    Answer whole = solve(without, limits);
    nodes_ += whole.nodes;
    ENSURE(!best || !whole.is_infeasible);
    if (whole.is_infeasible || whole.misses_floors) return;
    if (!best || whole.objective > best->objective) {
      best = Alternative{.objective = whole.objective,
                         .bound = std::nullopt,
                         .changes = whole.schedule.gpus[fleet::idx(gpu)],
                         .better = {}};
      if (is_better(whole.objective)) best->better = std::move(whole.schedule);
    }
    best->bound = checked_bound(whole.bound, best->objective);
  }

  const Problem& problem_;
  const Schedule& schedule_;
  fleet::Terms terms_;
  fleet::FleetState state_;
  double objective_ = 0;
  double score_ = 0;
  std::int64_t nodes_ = 0;
  GpuIndex narrowed_gpu_{-1};
  std::vector<ServiceIndex> services_;  ///< the likely services of that GPU
};

WhatIfs::WhatIfs(const Problem& problem, const Schedule& schedule)
    : fleet_(std::make_unique<Fleet>(problem, schedule)) {}

WhatIfs::~WhatIfs() = default;

double WhatIfs::objective() const { return fleet_->objective(); }

double WhatIfs::worth_of_piece(GpuIndex gpu, const Piece& piece) {
  return piece.service == kNoService ? 0 : fleet_->worth_of_piece(gpu, piece);
}

GpuWorth WhatIfs::worth_of_changes(GpuIndex gpu) { return fleet_->worth_of_changes(gpu); }

std::optional<Alternative> WhatIfs::without(GpuIndex gpu, const Piece& piece, Ban ban, const SearchLimits& limits) {
  return fleet_->without(gpu, piece, ban, limits);
}

std::int64_t WhatIfs::nodes() const { return fleet_->nodes(); }

}  // namespace berth::planner
