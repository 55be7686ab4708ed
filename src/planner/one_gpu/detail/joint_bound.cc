#include "planner/one_gpu/detail/joint_bound.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::planner {
namespace {

/// Relative: smaller differences are rounding.
constexpr double kNoGain = 1e-9;

/// The only combination of phases if no model becomes stale.
constexpr PhasesIndex kAllFresh(0);

}  // namespace

JointBound::JointBound(const GpuCase& gpu_case, Variants variants, int states_max)
    : case_(gpu_case),
      services_(static_cast<int>(gpu_case.problem.services.size())),
      phases_(gpu_case.problem),
      states_(gpu_case, variants, states_max / phases_.count()),
      worth_(gpu_case, states_, phases_),
      progress_(gpu_case, states_, phases_),
      costs_(gpu_case, states_, worth_, phases_),
      changes_(gpu_case, states_, phases_.services()) {}

void JointBound::compute(int block_slots, const std::vector<BundleIndex>& standing_bundles, const PriceBound* prices) {
  ENSURE(is_usable() && standing_bundles.size() == ix(services_));
  const bool is_instant = std::ranges::find(case_.start_slots, 0) != case_.start_slots.end();
  if (is_instant || !is_always_fresh()) block_slots = 1;
  blocks_ = JointBlocks(case_, block_slots);
  changes_.allow_in_blocks(block_slots);
  progress_.start(prices);
  costs_.start(blocks_, standing_bundles);
  values_.resize(place_of(blocks_.end() + 1, kAllFresh));
  taking_.resize(costs_.is_soon_created() ? values_.size() : 0);
  for (BlockIndex boundary = blocks_.end(); boundary >= 0; --boundary) compute_boundary(boundary);
}

/// Computes the values at a boundary from those at the next one.
void JointBound::compute_boundary(BlockIndex boundary) {
  double* now = values_.data() + place_of(boundary, kAllFresh);
  if (boundary < blocks_.end()) {
    const double* next = values_.data() + place_of(boundary + 1, kAllFresh);
    std::copy(next, next + (next - now), now);
    progress_.enter(blocks_.end_of(boundary), now);
  }
  costs_.go_to(boundary);
  for (const PhasesIndex phases : Indices<PhasesIndex>(phases_.count())) compute_phases(boundary, phases);
  const SlotIndex slot = blocks_.begin_of(boundary);
  progress_.get_done(slot, now);
  if (!taking_.empty()) progress_.get_done(slot, taking_.data() + place_of(boundary, kAllFresh));
}

/// Values with one combination of phases: holding until the next boundary, after a possible change.
void JointBound::compute_phases(BlockIndex boundary, PhasesIndex phases) {
  double* values = values_.data() + place_of(boundary, phases);
  const SlotIndex slot = blocks_.begin_of(boundary);
  if (!progress_.is_reachable(slot, phases)) {
    std::fill_n(values, states_.count(), kWorthless);
    return take_spare(boundary, phases, false);
  }
  std::vector<double> rewards;
  if (boundary == blocks_.end()) {
    hold_tail(phases, values);
  } else {
    if (!is_always_fresh()) rewards = progress_.rewards_of_rooms(slot, phases);
    hold(boundary, phases, rewards, values);
  }
  const bool can_change = blocks_.can_change_at(boundary);
  if (can_change) changes_.make(costs_.of(phases), rewards, costs_.takeover(), values);
  take_spare(boundary, phases, can_change);
}

/// The worth of states with spare slices at the boundary, from their worth without.
void JointBound::take_spare(BlockIndex boundary, PhasesIndex phases, bool can_change) {
  if (taking_.empty()) return;
  const std::size_t place = place_of(boundary, phases);
  std::copy_n(values_.data() + place, states_.count(), taking_.data() + place);
  if (can_change) changes_.take_spare(taking_.data() + place);
}

void JointBound::hold(BlockIndex block, PhasesIndex phases, const std::vector<double>& rewards, double* values) const {
  const SlotIndex from = blocks_.begin_of(block);
  const bool binds = from >= case_.problem.floors_from;
  std::vector<double> gains;
  std::vector<std::size_t> begin_of;
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    const bool is_fresh = phases_.of(phases, service) == kFresh;
    const double* now = worth_.before(service, is_fresh, from);
    const double* next = worth_.before(service, is_fresh, blocks_.end_of(block));
    begin_of.push_back(gains.size());
    for (const HoldingIndex i : Indices<HoldingIndex>(states_.holdings(service))) {
      gains.push_back(binds && !states_.keeps_floor(service, i) ? kWorthless : next[i] - now[i]);
    }
  }
  add_gains(gains, begin_of, values);
  if (rewards.empty()) return;
  for (const StateIndex state : Indices<StateIndex>(states_.count())) values[state] += rewards[states_.room_of(state)];
}

void JointBound::hold_tail(PhasesIndex phases, double* values) const {
  const bool binds = case_.problem.floors_from < case_.end();
  std::vector<double> gains;
  std::vector<std::size_t> begin_of;
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    const std::vector<double>& tail = worth_.tail(service, phases_.of(phases, service) != kStuck);
    begin_of.push_back(gains.size());
    for (const HoldingIndex i : Indices<HoldingIndex>(states_.holdings(service))) {
      gains.push_back(binds && !states_.keeps_floor(service, i) ? kWorthless : tail[i]);
    }
  }
  std::fill_n(values, states_.count(), -progress_.charge_at_end(phases));
  add_gains(gains, begin_of, values);
}

/// Adds [service][holding] to each state.
void JointBound::add_gains(const std::vector<double>& gains, const std::vector<std::size_t>& begin_of,
                           double* values) const {
  const std::uint16_t* held = states_.held(StateIndex(0));
  for (const StateIndex state : Indices<StateIndex>(states_.count())) {
    double sum = values[state];
    for (const std::size_t begin : begin_of) sum += gains[begin + *held++];
    values[state] = sum;
  }
}

double JointBound::from(SlotIndex t, StateIndex state) const {
  const JointBlocks::BlockPosition position = blocks_.position_of(t);
  const double* row = values_.data() + place_of(position.block, kAllFresh) + ix(state);
  if (position.share <= 0) return *row;
  double before = 0;
  double block = 0;
  const std::uint16_t* held = states_.held(state);
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    const HoldingIndex holding(held[service]);
    before += worth_.served(service, holding, position.begin, t);
    block += worth_.served(service, holding, position.begin, position.end);
  }
  const double waits = block + row[states_.count()];
  return (position.share < 1 ? (1 - position.share) * *row + position.share * waits : waits) - before;
}

double JointBound::from(SlotIndex t, StateIndex state, const std::vector<ModelState>& models, bool has_spare) const {
  if (is_always_fresh()) return from(t, state);
  const std::vector<double>& table = has_spare && !taking_.empty() ? taking_ : values_;
  const double* values = table.data() + place_of(blocks_.of(t), kAllFresh) + ix(state);
  double best = kWorthless;
  for (const PhasesIndex phases : Indices<PhasesIndex>(phases_.count())) {
    const double value = values[ix(phases) * ix(states_.count())];
    if (value != kWorthless) best = std::max(best, progress_.added_to(value, models, t, phases));
  }
  return best;
}

double JointBound::loss_of_waiting(SlotIndex t, StateIndex state) const {
  ENSURE(is_always_fresh() && !values_.empty());
  const BlockIndex block = blocks_.of(t);
  if (t != blocks_.begin_of(block) || t == case_.end()) return 0;
  double waits = values_[place_of(block + 1, kAllFresh) + ix(state)];
  const std::uint16_t* held = states_.held(state);
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    const HoldingIndex holding(held[service]);
    waits += worth_.served(service, holding, t, blocks_.end_of(block));
    if (t >= case_.problem.floors_from && !states_.keeps_floor(service, holding)) waits = kWorthless;
  }
  const double value = values_[place_of(block, kAllFresh) + ix(state)];
  return value - waits > kNoGain * std::abs(value) ? value - waits : 0;
}

std::vector<JointBound::StateChange> JointBound::targets(SlotIndex t, StateIndex state, double least) {
  ENSURE(is_always_fresh() && !values_.empty());
  const Outcomes outcomes = outcomes_at(t, state);
  const std::size_t services = ix(services_);
  const std::size_t locks = outcomes.locks.size();
  std::vector<JointBlocks::BlockPosition> positions;
  positions.reserve(locks);
  for (const int lock : outcomes.locks) positions.push_back(blocks_.position_of(case_.capped(t + lock)));
  std::vector<StateChange> targets;
  const double* price_to = costs_.price_from(states_.room_of(state));
  const std::uint16_t* held = states_.held(StateIndex(0));
  for (StateIndex to(0); to < states_.count(); ++to, held += services) {
    if (!states_.may_begin(to)) continue;
    std::size_t lock = 0;
    for (std::size_t s = 0; s < services; ++s) {
      lock = std::max<std::size_t>(lock, outcomes.lock_of[outcomes.begin_of[s] + held[s]]);
    }
    const JointBlocks::BlockPosition& position = positions[lock];
    const double* row = values_.data() + place_of(position.block, kAllFresh) + ix(to);
    double value = (position.share < 1 ? (1 - position.share) * row[0] : 0) - price_to[states_.room_of(to)];
    if (position.share > 0) value += position.share * row[states_.count()];
    for (std::size_t s = 0; s < services; ++s) {
      value += outcomes.values[(outcomes.begin_of[s] + held[s]) * locks + lock];
    }
    if (value > least) targets.push_back({.state = to, .value = value, .staying = staying(t, to)});
  }
  return targets;
}

double JointBound::staying(SlotIndex t, StateIndex state) const {
  double value = 0;
  const std::uint16_t* held = states_.held(state);
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    const HoldingIndex holding(held[service]);
    value += worth_.served(service, holding, t, case_.end()) + worth_.tail(service, true)[holding];
  }
  return value;
}

/// The outcomes of changes from a state.
JointBound::Outcomes JointBound::outcomes_at(SlotIndex t, StateIndex from) {
  Outcomes outcomes;
  outcomes.locks = {0};
  outcomes.locks.insert(outcomes.locks.end(), case_.start_slots.begin(), case_.start_slots.end());
  std::ranges::sort(outcomes.locks);
  const auto repeated = std::ranges::unique(outcomes.locks);
  outcomes.locks.erase(repeated.begin(), repeated.end());
  const std::uint16_t* old = states_.held(from);
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    outcomes.begin_of.push_back(outcomes.lock_of.size());
    add_outcomes(service, t, HoldingIndex(old[service]), outcomes);
  }
  return outcomes;
}

/// Adds the gain of a service until the lock ends, minus the part that the rest counts again.
void JointBound::add_outcomes(ServiceIndex service, SlotIndex t, HoldingIndex old, Outcomes& outcomes) {
  const auto sum = [&](SlotIndex slot) { return worth_.before(service, true, case_.capped(slot)); };
  const std::vector<HoldingIndex>& common = states_.common_with(service, old);
  const int start = case_.start_slots[service];
  const auto own = std::ranges::lower_bound(outcomes.locks, start) - outcomes.locks.begin();
  for (const HoldingIndex to : Indices<HoldingIndex>(states_.holdings(service))) {
    const HoldingIndex kept = common[to];
    outcomes.lock_of.push_back(kept == to ? 0 : static_cast<std::uint8_t>(own));
    for (const int lock : outcomes.locks) {
      const SlotIndex end = case_.capped(t + lock);
      const SlotIndex ready = kept == to ? t : case_.capped(t + std::min(start, lock));
      const JointBlocks::BlockPosition position = blocks_.position_of(end);
      const double counted = sum(position.begin)[to];
      outcomes.values.push_back((sum(ready)[kept] - sum(t)[kept]) + (sum(end)[to] - sum(ready)[to]) -
                                (sum(end)[to] - counted) + position.share * (sum(position.end)[to] - counted));
    }
  }
}

}  // namespace berth::planner
