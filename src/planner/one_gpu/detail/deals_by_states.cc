#include "planner/one_gpu/detail/deals_by_states.h"

#include <algorithm>

#include "base/core/ensure.h"
#include "planner/one_gpu/detail/change_bound.h"
#include "planner/one_gpu/detail/draft.h"
#include "planner/one_gpu/detail/joint_bound.h"
#include "planner/one_gpu/detail/search_state.h"

namespace berth::planner {
namespace {

using StateChange = JointBound::StateChange;

/// The number of states examined at the cost of one node.
constexpr int kStatesOfNode = 1000;

bool by_bound(const StateChange& a, const StateChange& b) {
  return a.value != b.value ? a.value > b.value : a.state < b.state;
}

bool by_staying(const StateChange& a, const StateChange& b) {
  return a.staying != b.staying ? a.staying > b.staying : a.state < b.state;
}

/// Keeps half of the targets by the largest bound and the others by the worth without another change; ordered by bound,
/// largest first. Returns an upper bound of those left out.
double keep_best(std::vector<StateChange>& targets, std::size_t most) {
  double left = kNever;
  if (targets.size() > most) {
    const auto half = targets.begin() + static_cast<std::ptrdiff_t>(most / 2);
    const auto end = targets.begin() + static_cast<std::ptrdiff_t>(most);
    std::ranges::nth_element(targets, half, by_bound);
    std::nth_element(half, end, targets.end(), by_staying);
    left = std::ranges::min_element(end, targets.end(), by_bound)->value;
    targets.erase(end, targets.end());
  }
  std::ranges::sort(targets, by_bound);
  return left;
}

}  // namespace

void DealsByStates::add_to(Draft& draft, const Branch& branch) {
  ENSURE(state_.bound.bounding() == Bounding::kJoint);
  const Label& label = state_.labels[branch.label];
  JointBound& joint = state_.bound.joint();
  const StateIndex from = state_.bound.joint_state(label.arrangement, state_.labels.arrangement_of(label).shares);
  state_.budget.count(1 + joint.states() / kStatesOfNode);
  const double before = label.value;
  std::vector<StateChange> targets = joint.targets(branch.slot, from, state_.cutoff() - before);
  const double left = keep_best(targets, ix(state_.budget.limits().changes_max));
  state_.budget.leave_out(before + left);
  shares_.assign(ix(state_.services()), {});
  for (const StateChange& target : targets) {
    if (before + target.value <= branch.bound - draft.slack()) break;
    choose(draft, branch, target.state, ServiceIndex(0));
  }
}

/// Enumerates all shares that count as a state; those of the services before `service` are chosen already.
void DealsByStates::choose(Draft& draft, const Branch& branch, StateIndex to, ServiceIndex service) {
  if (ix(service) == shares_.size()) return close(draft, branch);
  for (const BundleIndex bundle : state_.bound.joint().bundles_of(to, service)) {
    if (state_.budget.is_spent()) return draft.stop();
    shares_[service].bundle = bundle;
    choose(draft, branch, to, service + 1);
  }
}

void DealsByStates::close(Draft& draft, const Branch& branch) {
  if (shares_ == state_.labels.arrangement_of(state_.labels[branch.label]).shares) return;
  state_.budget.count(1);
  const double loss = branch.bound - change_bound_.of(branch.label, branch.slot, shares_);
  if (loss < draft.slack()) draft.add(loss, shares_);
}

}  // namespace berth::planner
