#include "planner/one_gpu/detail/joint_worth.h"

#include <algorithm>

namespace berth::planner {

JointWorth::JointWorth(const GpuCase& gpu_case, const JointStates& states, const JointPhases& phases)
    : case_(gpu_case), states_(states) {
  if (!states.is_usable()) return;
  stale_.resize(gpu_case.bundles.size());
  for (const ServiceIndex service : indices_of<ServiceIndex>(stale_)) fresh_.push_back(worth_of(service, true));
  for (const ServiceIndex service : phases.services()) stale_[service] = worth_of(service, false);
  margins_ = margins_where(false);
  if (!phases.is_always_fresh()) fresh_margins_ = margins_where(true);
}

/// The worth of each holding, with the best variants of each slot on its own.
JointWorth::HoldingWorths JointWorth::worth_of(ServiceIndex service, bool is_fresh) const {
  const Bundles& bundles = case_.bundles[service];
  const Served& served = case_.served[service];
  const std::size_t count = ix(states_.holdings(service));
  HoldingWorths worth;
  worth.sums.assign(count * (ix(case_.problem.slots) + 1), kWorthless);
  worth.tail.assign(count, kWorthless);
  for (const BundleIndex bundle : Indices<BundleIndex>(bundles.count())) {
    const LevelIndex level = bundles.level[bundle];
    const HoldingIndex holding = states_.holding_of(service, bundle);
    for (const SlotIndex t : Indices<SlotIndex>(case_.problem.slots)) {
      double& most = worth.sums[ix(t + 1) * count + ix(holding)];
      most = std::max(most, is_fresh ? case_.value_when_done(service, level, t) : served.value(level, false, t, t + 1));
    }
    worth.tail[holding] = std::max(worth.tail[holding], served.tail(level, is_fresh));
  }
  std::fill_n(worth.sums.begin(), count, 0);
  for (std::size_t i = count; i < worth.sums.size(); ++i) worth.sums[i] += worth.sums[i - count];
  return worth;
}

std::vector<double> JointWorth::margins_where(bool is_surely_fresh) const {
  const std::size_t additions = states_.additions().size();
  std::vector<double> margins(additions * (ix(case_.problem.slots) + 1));
  for (const SlotIndex t : Indices<SlotIndex>(case_.problem.slots)) {
    const double* before = margins.data() + ix(t) * additions;
    double* now = margins.data() + ix(t + 1) * additions;
    for (std::size_t i = 0; i < additions; ++i) {
      now[i] = before[i] + margin_of(states_.additions()[i], t, is_surely_fresh);
    }
  }
  return margins;
}

/// The least additional worth of a piece in a slot.
double JointWorth::margin_of(const JointStates::Addition& addition, SlotIndex slot, bool is_surely_fresh) const {
  const auto of = [&](bool is_fresh) {
    const double* now = before(addition.service, is_fresh, slot);
    const double* next = before(addition.service, is_fresh, slot + 1);
    return (next[addition.to] - next[addition.from]) - (now[addition.to] - now[addition.from]);
  };
  const double fresh = of(true);
  const bool is_known = is_surely_fresh && !case_.may_lose_by_swap(addition.service);
  return is_known || stale_[addition.service].sums.empty() ? fresh : std::min(fresh, of(false));
}

}  // namespace berth::planner
