/// A tiny problem of one GPU in the state of a search pass. No service begins to retrain in vain: the search does not
/// consider that (one_gpu.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "planner/one_gpu/detail/change_bound.h"
#include "planner/one_gpu/detail/draft.h"
#include "planner/one_gpu/detail/search_state.h"
#include "planner/one_gpu/detail/share_options.h"
#include "planner/one_gpu/testing/bounds.h"
#include "planner/one_gpu/testing/continuations.h"

namespace berth::planner::testing {

/// Nothing is left out.
inline constexpr PassLimits kUnlimited{.width = 1 << 29,
                                       .changes_max = 1 << 29,
                                       .placings_max = 1 << 29,
                                       .with_moves = true,
                                       .nodes_max = std::numeric_limits<std::int64_t>::max() / 2};

struct TinySearch {
  /// Keeps a reference to the problem.
  explicit TinySearch(const Problem& problem, int block_slots = 1)
      : gpu_case(problem),
        state(gpu_case),
        bounds(gpu_case, block_slots),
        continuations(gpu_case, state.arrangements, state.labels, RetrainsInVain::kNo),
        change_bound(gpu_case, state.arrangements, state.labels, state.bound, state.incumbent),
        options(gpu_case, state.labels, state.bound) {}
  TinySearch(const TinySearch&) = delete;
  TinySearch& operator=(const TinySearch&) = delete;

  /// A label at a slot, where it may change.
  [[nodiscard]] Branch branch_of(LabelIndex label, SlotIndex t) {
    Label& of = state.labels[label];
    of.bound = state.bound.of(of, t, true, state.cutoff());
    const bool is_priced = state.bound.has_prices();
    return {.label = label, .slot = t, .bound = is_priced ? state.bound.by_prices(of, t) : of.bound};
  }

  GpuCase gpu_case;
  SearchState state;
  CaseBounds bounds;
  Continuations continuations;
  ChangeBound change_bound;
  ShareOptions options;
};

/// Visits tiny problems under each legal combination of bounds, with labels from which a change may begin. The best
/// known schedule is worth up to 30 % less than the optimum; only labels with a larger bound are visited.
inline void visit_branches(std::uint64_t seed,
                           const std::function<void(TinySearch& search, const Branch& branch)>& visit) {
  const Problem problem = one_gpu_of_tiny(seed);
  for (const bool is_joint : {false, true}) {
    TinySearch search(problem, 1 + static_cast<int>(seed % 3));
    SearchState& state = search.state;
    if (state.labels.root().value == kNever || search.continuations.all().size() > kArrangementsMax) return;
    search.bounds.use(search.bounds.ways()[is_joint ? 1 : 0], state.bound);
    search.options.restart();
    state.restart_pass(kUnlimited);
    const double best = search.continuations.best(state.labels[LabelIndex(0)], search.gpu_case.first_slot);
    if (best == kNever) return;
    Rng rng(seed);
    state.incumbent.replace(best - rounding_of(best) - 0.3 * rng.unit() * std::abs(best), {});
    visit_labels(search.gpu_case, state.labels, search.continuations, rng,
                 [&](const std::vector<LabelIndex>& there, SlotIndex t) {
                   for (const LabelIndex label : there) {
                     if (!search.gpu_case.can_change(t)) continue;
                     const Branch branch = search.branch_of(label, t);
                     if (state.labels[label].bound > state.cutoff()) visit(search, branch);
                   }
                 });
  }
}

/// The worth of the best schedule that changes at a branch to shares accepted by `wanted`.
[[nodiscard]] inline double best_change(TinySearch& search, const Branch& branch,
                                        const std::function<bool(const std::vector<Share>& shares)>& wanted) {
  double best = kNever;
  const Label from = search.state.labels[branch.label];
  for (const ArrangementIndex to : search.continuations.all()) {
    if (!wanted(search.state.arrangements[to].shares)) continue;
    best = std::max(best, search.continuations.best_changed(from, branch.slot, to));
  }
  return best;
}

/// The same for other shares than before.
[[nodiscard]] inline double best_deal(TinySearch& search, const Branch& branch,
                                      const std::function<bool(const std::vector<Share>& shares)>& wanted) {
  const ArrangementIndex from = search.state.labels[branch.label].arrangement;
  return best_change(search, branch, [&](const std::vector<Share>& shares) {
    return shares != search.state.arrangements[from].shares && wanted(shares);
  });
}

}  // namespace berth::planner::testing
