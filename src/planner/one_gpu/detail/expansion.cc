#include "planner/one_gpu/detail/expansion.h"

#include <algorithm>
#include <optional>

#include "base/core/ensure.h"
#include "planner/one_gpu/detail/draft.h"
#include "planner/one_gpu/detail/price_bound.h"
#include "planner/one_gpu/detail/search_state.h"

namespace berth::planner {

Expansion::Expansion(SearchState& state)
    : state_(state),
      change_bound_(state.gpu_case, state.arrangements, state.labels, state.bound, state.incumbent),
      options_(state.gpu_case, state.labels, state.bound),
      by_prices_(state, change_bound_, options_),
      by_states_(state, change_bound_) {}

void Expansion::expand(LabelIndex label, SlotIndex t) {
  ENSURE(state_.gpu_case.can_change(t));
  const double bound = state_.labels[label].bound;
  const PassLimits& limits = state_.budget.limits();
  if (state_.budget.is_spent()) return state_.budget.leave_out(bound);
  if (limits.is_from_pool) return expand_from_pool({.label = label, .slot = t, .bound = bound});
  if (state_.bound.bounding() == Bounding::kJoint) {
    const Branch branch{.label = label, .slot = t, .bound = bound};
    Draft draft(branch.bound - state_.cutoff(), limits.changes_max);
    by_states_.add_to(draft, branch);
    try_deals(branch, draft);
    return try_moves(branch);
  }
  state_.budget.count(1);
  const Branch branch{.label = label, .slot = t, .bound = state_.bound.by_prices(state_.labels[label], t)};
  Draft draft(branch.bound - state_.cutoff(), limits.changes_max);
  by_prices_.add_to(draft, branch);
  try_deals(branch, draft);
  try_moves(branch);
}

void Expansion::expand_from_pool(const Branch& branch) {
  state_.budget.leave_out(branch.bound);
  const bool has_prices = state_.bound.has_prices();
  const double alone = has_prices ? state_.bound.by_prices(state_.labels[branch.label], branch.slot) : branch.bound;
  for (const std::vector<Share>& shares : pool_) {
    const double slack = has_prices ? slack_at_prices(branch, alone, shares) : alone - state_.cutoff();
    state_.budget.count(1);
    if (slack <= 0) continue;
    const double best = change_bound_.of(branch.label, branch.slot, shares);
    if (best > state_.cutoff()) try_placings(branch, {.loss = branch.bound - best, .shares = shares});
  }
}

/// By how much a change to these shares may exceed the cutoff, by the separate bounds of the services, whose sum for
/// the label itself is `alone`; not exact below 0.
double Expansion::slack_at_prices(const Branch& branch, double alone, const std::vector<Share>& shares) const {
  const Label& label = state_.labels[branch.label];
  const PriceBound& prices = state_.bound.prices();
  double slack = alone - state_.cutoff();
  for (const ServiceIndex service : indices_of<ServiceIndex>(shares)) {
    if (!(slack > 0)) break;
    const Share share = state_.labels.share_of(label, service);
    if (shares[service] == share) continue;
    slack -= prices.from(service, branch.slot, share.bundle, state_.labels.state_of(label, service)) -
             options_.value_with(label, service, shares[service], branch.slot);
  }
  return slack;
}

void Expansion::try_deals(const Branch& branch, Draft& draft) {
  if (draft.is_cut()) {
    state_.budget.leave_out(std::min(branch.bound - draft.slack(), state_.labels[branch.label].bound));
  }
  for (const Deal& deal : draft.take()) {
    if (branch.bound - deal.loss > state_.cutoff()) try_placings(branch, deal);
  }
}

/// Tries changes after which each service holds as much as before: pieces move, or unused ones are destroyed.
void Expansion::try_moves(const Branch& branch) {
  const double best = bound_of_moves(branch);
  if (!(best > state_.cutoff())) return;
  if (!state_.budget.limits().with_moves) return state_.budget.leave_out(best);
  const std::vector<Share> shares = state_.labels.arrangement_of(state_.labels[branch.label]).shares;
  try_placings(branch, {.loss = branch.bound - best, .shares = shares});
}

/// An upper bound of changes that only move pieces: that of moving a single piece, or of destroying an unused one.
double Expansion::bound_of_moves(const Branch& branch) {
  const Label& label = state_.labels[branch.label];
  const Arrangement& from = state_.labels.arrangement_of(label);
  const std::vector<Share>& shares = from.shares;
  if (from.has_unused) return label.bound;
  double best = kNever;
  std::vector<Share> kept = shares;
  for (const ServiceIndex service : indices_of<ServiceIndex>(shares)) {
    const Bundles& bundles = state_.gpu_case.bundles[service];
    const Share all = shares[service];
    for (const ItemIndex item : indices_of<ItemIndex>(bundles.items)) {
      if (bundles.count_of(all.bundle, item) == 0) continue;
      kept[service].bundle = bundles.minus(all.bundle, item);
      best = std::max(best, change_bound_.of(branch.label, branch.slot, shares, kept));
      kept[service] = all;
    }
    if (all.retraining_kind < 0) continue;
    kept[service].retraining_kind = kNoKind;
    best = std::max(best, change_bound_.of(branch.label, branch.slot, shares, kept));
    kept[service] = all;
  }
  return std::min(best, label.bound);
}

void Expansion::try_placings(const Branch& branch, const Deal& deal) {
  // A copy, because `change` may reallocate the arrangements.
  const Arrangement from = state_.labels.arrangement_of(state_.labels[branch.label]);
  int left = state_.budget.limits().placings_max;
  const auto is_worth = [&](const std::vector<Share>& kept) {
    state_.budget.count(1);
    return change_bound_.of(branch.label, branch.slot, deal.shares, kept) > state_.cutoff();
  };
  const bool is_whole = state_.arrangements.visit_placings(from, deal.shares, is_worth, [&](const Configuration& to) {
    if (left-- <= 0 || state_.budget.is_spent()) return false;
    change(branch, to);
    return true;
  });
  if (!is_whole) {
    state_.budget.leave_out(std::min(branch.bound - deal.loss, state_.labels[branch.label].bound));
  }
}

void Expansion::change(const Branch& branch, const Configuration& to) {
  state_.budget.count(1);
  const ArrangementIndex number = state_.arrangements.number_of(to);
  Labels& labels = state_.labels;
  const Label& parent = labels[branch.label];
  if (!state_.arrangements[number].may_begin || number == parent.arrangement) return;
  const Labels::Mark before = labels.mark();
  std::optional<Label> child = labels.change(parent, number, branch.slot);
  if (!child) return;
  child->parent = branch.label;
  if (child->ready == state_.gpu_case.end()) {
    state_.finish(*child);
    return labels.undo(before);
  }
  child->bound = std::min(parent.bound, state_.bound.of(*child, child->ready, true, state_.cutoff()));
  if (!(child->bound > state_.cutoff())) return labels.undo(before);
  const SlotIndex ready = child->ready;
  (ready == branch.slot ? state_.arrived_now : state_.arrivals[ready]).push_back(labels.add(*child));
}

}  // namespace berth::planner
