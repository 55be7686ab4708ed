#include "planner/one_gpu/detail/joint_progress.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::planner {

JointProgress::JointProgress(const GpuCase& gpu_case, const JointStates& states, const JointPhases& phases)
    : case_(gpu_case), states_(states), phases_(phases), scales_(gpu_case.bundles.size(), 1.0) {}

void JointProgress::start(const PriceBound* prices) {
  ENSURE(prices != nullptr || phases_.is_always_fresh());
  ENSURE(scales_.size() == case_.bundles.size());
  prices_ = prices;
  reachable_.clear();
  for (const ServiceIndex service : phases_.services()) reachable_.push_back(reachable_phases(service));
}

/// The phases that a model can be in, slot by slot, independent of the other models.
std::vector<std::uint8_t> JointProgress::reachable_phases(ServiceIndex service) const {
  constexpr int kFreshBit = 1 << kFresh;
  constexpr int kStuckBit = 1 << kStuck;
  constexpr int kTrainingBit = 1 << kTraining;
  const ServiceBound& bound = prices_->service(service);
  const RetrainingTerms& terms = *case_.problem.services[service].retraining;
  const SlotIndex end = case_.end();
  const auto may_finish = [&](SlotIndex from) {
    for (SlotIndex t = from; t <= end; ++t) {
      if (t > from && bound.is_due(t) && !bound.keeps_unfinished()) return false;
      if (bound.may_be_done(t)) return true;
    }
    return false;
  };
  std::vector<std::uint8_t> reachable;
  int now = terms.is_stale && terms.fresh_in == 0 ? kStuckBit | kTrainingBit : kFreshBit;
  for (SlotIndex t(0); t <= end; ++t) {
    if (bound.is_due(t)) {
      const bool is_anew = (now & kFreshBit) != 0 || (!bound.keeps_unfinished() && (now & kStuckBit) != 0);
      const int kept = bound.keeps_unfinished() ? now & (kStuckBit | kTrainingBit) : 0;
      now = kept | (is_anew ? kStuckBit | kTrainingBit : 0);
    }
    if ((now & kTrainingBit) != 0 && !may_finish(t)) now &= ~kTrainingBit;
    if ((now & kTrainingBit) != 0 && bound.may_be_done(t)) now |= kFreshBit;
    reachable.push_back(static_cast<std::uint8_t>(now));
  }
  return reachable;
}

bool JointProgress::is_reachable(SlotIndex slot, PhasesIndex phases) const {
  for (std::size_t i = 0; i < reachable_.size(); ++i) {
    if ((reachable_[i][slot] >> phases_.of(phases, phases_.services()[i]) & 1) == 0) return false;
  }
  return true;
}

double JointProgress::added_to(double worth, const std::vector<ModelState>& models, SlotIndex t,
                               PhasesIndex phases) const {
  for (const ServiceIndex service : phases_.services()) {
    const PhaseIndex phase = phases_.of(phases, service);
    const ModelState& model = models[service];
    if (model.is_open() == (phase == kFresh)) return kWorthless;
    if (phase == kTraining && !prices_->service(service).may_get_done(t, model.progress)) return kWorthless;
    worth += price_in(phase, service, t) * model.progress;
  }
  return worth;
}

void JointProgress::enter(SlotIndex slot, double* values) const {
  const std::size_t count = ix(states_.count());
  for (const ServiceIndex service : phases_.services()) {
    const ServiceBound& bound = prices_->service(service);
    if (!bound.is_due(slot)) continue;
    for (const PhasesIndex phases : Indices<PhasesIndex>(phases_.count())) {
      if (phases_.of(phases, service) != kFresh) continue;
      double* fresh = values + ix(phases) * count;
      double* stuck = values + ix(phases_.with(phases, service, kStuck)) * count;
      double* training = values + ix(phases_.with(phases, service, kTraining)) * count;
      for (std::size_t state = 0; state < count; ++state) {
        fresh[state] = std::max(stuck[state], training[state]);
        if (bound.keeps_unfinished()) continue;
        stuck[state] = fresh[state];
        training[state] = kWorthless;
      }
    }
  }
}

void JointProgress::get_done(SlotIndex slot, double* values) const {
  const std::size_t count = ix(states_.count());
  for (const ServiceIndex service : phases_.services()) {
    if (!prices_->service(service).may_be_done(slot)) continue;
    const double charge = price(service, slot) * kDone;
    for (const PhasesIndex phases : Indices<PhasesIndex>(phases_.count())) {
      if (phases_.of(phases, service) != kFresh) continue;
      const double* fresh = values + ix(phases) * count;
      double* training = values + ix(phases_.with(phases, service, kTraining)) * count;
      for (std::size_t state = 0; state < count; ++state) {
        training[state] = std::max(training[state], fresh[state] - charge);
      }
    }
  }
}

std::vector<double> JointProgress::rewards_of_rooms(SlotIndex slot, PhasesIndex phases) const {
  double outside = 0;
  for (const ServiceIndex service : phases_.services()) {
    outside += price_in(phases_.of(phases, service), service, slot) * case_.outside_progress(service, slot);
  }
  std::vector<double> rewards;
  rewards.reserve(ix(case_.rooms.count()));
  for (const RoomIndex room : Indices<RoomIndex>(case_.rooms.count())) {
    rewards.push_back(outside + best_reward(slot, phases, 0, room));
  }
  return rewards;
}

double JointProgress::charge_at_end(PhasesIndex phases) const {
  double charge = 0;
  for (const ServiceIndex service : phases_.services()) {
    if (phases_.of(phases, service) != kTraining) continue;
    const SlotIndex end = case_.end();
    charge += prices_->service(service).may_be_done(end) ? price(service, end) * kDone : -kWorthless;
  }
  return charge;
}

double JointProgress::price(ServiceIndex service, SlotIndex slot) const {
  return prices_->service(service).price_of_progress(slot) * scales_[service];
}

double JointProgress::price_in(PhaseIndex phase, ServiceIndex service, SlotIndex slot) const {
  if (phase == kFresh) return 0;
  return phase == kStuck ? prices_->service(service).stuck_price(slot) : price(service, slot);
}

/// The best reward of the services from number `next` on, next to a room.
double JointProgress::best_reward(SlotIndex slot, PhasesIndex phases, std::size_t next, RoomIndex room) const {
  if (next == phases_.services().size()) return 0;
  const ServiceIndex service = phases_.services()[next];
  const double paid = price_in(phases_.of(phases, service), service, slot);
  double best = best_reward(slot, phases, next + 1, room);
  for (KindIndex kind(0); kind < case_.rooms.kinds() && paid > 0; ++kind) {
    const double rate = case_.progress_rate(service, kind);
    const RoomIndex more = rate > 0 ? case_.rooms.add(room, kind) : kNoRoom;
    if (more != kNoRoom) best = std::max(best, paid * rate + best_reward(slot, phases, next + 1, more));
  }
  return best;
}

}  // namespace berth::planner
