#include "one_gpu/detail/joint_bound.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace berth::planner {
namespace {

/// Relative: what differs by less is rounding.
constexpr double kNoGain = 1e-9;

std::vector<ServiceIndex> services_that_may_be_stale(const Problem& problem) {
  std::vector<ServiceIndex> services;
  for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
    const std::optional<RetrainingTerms>& terms = problem.services[service].retraining;
    if (terms && (terms->is_stale || !terms->due_slots.empty())) services.push_back(service);
  }
  return services;
}

/// Of so many models together; for more than a few, more than any limit of states.
int phases_of(std::size_t models) {
  constexpr std::size_t kModelsMax = 16;
  int phases = 1;
  for (std::size_t i = 0; i < std::min(models, kModelsMax); ++i) phases *= 3;
  return phases;
}

}  // namespace

JointBound::JointBound(const GpuCase& gpu_case, Variants variants, int states_max)
    : case_(gpu_case),
      services_(static_cast<int>(gpu_case.problem.services.size())),
      kinds_(gpu_case.rooms.kinds()),
      stale_services_(services_that_may_be_stale(gpu_case.problem)),
      phases_(phases_of(stale_services_.size())),
      states_(gpu_case, variants, states_max / phases_),
      changes_(gpu_case, states_, stale_services_),
      progress_scales_(ix(services_), 1.0) {
  const Problem& problem = gpu_case.problem;
  for (const ServiceTerms& terms : problem.services) {
    created_slots_.push_back(slots_of_seconds(problem.plumbing_seconds + terms.start_seconds + problem.create_seconds));
  }
  if (!is_usable()) return;
  stale_.resize(ix(services_));
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) fresh_.push_back(worth_of(service, true));
  for (const ServiceIndex service : stale_services_) stale_[service] = worth_of(service, false);
  make_margins();
}

/// Of each holding, the best variants in each slot by themselves.
JointBound::Worth JointBound::worth_of(ServiceIndex service, bool is_fresh) const {
  const Bundles& bundles = case_.bundles[service];
  const Served& served = case_.served[service];
  const std::size_t count = ix(states_.holdings(service));
  const int slots = case_.problem.slots;
  Worth worth;
  worth.sums.assign(count * ix(slots + 1), kWorthless);
  worth.tail.assign(count, kWorthless);
  for (const BundleIndex bundle : Indices<BundleIndex>(bundles.count())) {
    const LevelIndex level = bundles.level[bundle];
    const std::size_t holding = ix(states_.holding_of(service, bundle));
    for (const SlotIndex t : Indices<SlotIndex>(slots)) {
      double& most = worth.sums[ix(t + 1) * count + holding];
      most = std::max(most, is_fresh ? case_.value_when_done(service, level, t) : served.value(level, false, t, t + 1));
    }
    worth.tail[holding] = std::max(worth.tail[holding], served.tail(level, is_fresh));
  }
  std::fill_n(worth.sums.begin(), count, 0);
  for (std::size_t i = count; i < worth.sums.size(); ++i) worth.sums[i] += worth.sums[i - count];
  return worth;
}

/// With a fresh model, in the slots [from, to).
double JointBound::served(ServiceIndex service, HoldingIndex holding, SlotIndex from, SlotIndex to) const {
  const double* sums = fresh_[service].sums.data() + holding;
  const std::size_t count = ix(states_.holdings(service));
  return sums[ix(to) * count] - sums[ix(from) * count];
}

void JointBound::make_margins() {
  margins_ = margins_where(false);
  if (!is_always_fresh()) fresh_margins_ = margins_where(true);
  for (Costs* costs : {&costs_at_[0], &costs_at_[1], &costs_}) {
    costs->given.resize(states_.additions().size());
    costs->created.resize(states_.additions().size());
    costs->dropped.resize(states_.additions().size());
  }
  for (Cell* cell : {&cell_, &cell_before_}) {
    for (std::vector<double>* more : {&cell->given, &cell->created, &cell->dropped})
      more->resize(states_.additions().size());
  }
  is_free_.assign(ix(kinds_), 0);
}

std::vector<double> JointBound::margins_where(bool is_surely_fresh) const {
  std::vector<double> margins(states_.additions().size() * ix(case_.problem.slots + 1));
  for (const SlotIndex t : Indices<SlotIndex>(case_.problem.slots)) {
    const double* before = margins.data() + ix(t) * states_.additions().size();
    double* now = margins.data() + ix(t + 1) * states_.additions().size();
    for (std::size_t i = 0; i < states_.additions().size(); ++i)
      now[i] = before[i] + margin_of(states_.additions()[i], t, is_surely_fresh);
  }
  return margins;
}

/// What a piece more serves in a slot, at least.
double JointBound::margin_of(const Addition& addition, SlotIndex slot, bool is_surely_fresh) const {
  const std::size_t count = ix(states_.holdings(addition.service));
  const auto of = [&](const Worth& worth) {
    const double* now = worth.sums.data() + ix(slot) * count;
    const double* next = now + count;
    return (next[addition.to] - next[addition.from]) - (now[addition.to] - now[addition.from]);
  };
  const double fresh = of(fresh_[addition.service]);
  const Worth& stale = stale_[addition.service];
  const bool is_known = is_surely_fresh && !case_.may_lose_by_swap(addition.service);
  return is_known || stale.sums.empty() ? fresh : std::min(fresh, of(stale));
}

/// Blocks end where floors begin to bind and where a frozen stretch begins or ends.
void JointBound::make_blocks(int block_slots) {
  const Problem& problem = case_.problem;
  begins_.clear();
  can_change_.clear();
  block_of_.assign(ix(problem.slots + 1), BlockIndex(0));
  for (SlotIndex t = case_.first_slot; t < problem.slots; ++t) {
    const char can = case_.can_change(t) ? 1 : 0;
    const bool is_next =
        begins_.empty() || t - begins_.back() >= block_slots || t == problem.floors_from || can != can_change_.back();
    if (is_next) {
      begins_.push_back(t);
      can_change_.push_back(can);
    }
    block_of_[t] = BlockIndex(begins_.size() - 1);
  }
  block_of_[problem.slots] = BlockIndex(begins_.size());
  begins_.push_back(case_.end());
}

/// Kinds of which a piece stands that serves nobody: whoever takes it need not create one.
void JointBound::find_free_kinds(const std::vector<BundleIndex>& standing_bundles) {
  std::vector<int> left(ix(kinds_));
  for (const StandingPiece& standing : case_.gpu.standing) {
    ++left[case_.model.sites[standing.piece.site].kind];
  }
  for (const ServiceIndex service : indices_of<ServiceIndex>(standing_bundles)) {
    const Bundles& bundles = case_.bundles[service];
    for (const ItemIndex item : indices_of<ItemIndex>(bundles.items)) {
      left[bundles.items[item].kind] -= bundles.count_of(standing_bundles[service], item);
    }
  }
  for (const KindIndex kind : Indices<KindIndex>(kinds_)) is_free_[kind] = left[kind] > 0 ? 1 : 0;
}

/// Whether a piece that is created one slot before is ready no later than one that is handed over, and may stand beside
/// all others then. So whoever takes over a slice that serves nobody could have created it in its room a slot before,
/// but for what would have been made by retraining on it in that slot.
bool JointBound::is_soon_created() const {
  if (price_ > 0 || is_always_fresh()) return false;
  const ServiceTerms& first = case_.problem.services.front();
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    if (created_slots_[service] > case_.start_slots[service] + 1) return false;
    const ServiceTerms& terms = case_.problem.services[service];
    if (services_ > 1 && !may_be_neighbours(first, terms)) return false;
  }
  return true;
}

/// A slice that nobody serves with any more is destroyed, but where it could be had to retrain on, needed or not.
void JointBound::find_price() {
  price_ = case_.problem.change_price;
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    for (const KindIndex kind : Indices<KindIndex>(kinds_)) {
      if (case_.progress_rate(service, kind) > 0) price_ = 0;
    }
  }
  const Rooms& rooms = case_.rooms;
  price_between_.assign(ix(rooms.count()) * ix(rooms.count()), 0);
  for (RoomIndex from(0); from < rooms.count() && price_ > 0; ++from) {
    for (const RoomIndex to : Indices<RoomIndex>(rooms.count())) {
      double& price = price_between_[ix(from) * ix(rooms.count()) + ix(to)];
      for (const KindIndex kind : Indices<KindIndex>(kinds_)) {
        const int more = rooms.count_of(to, kind) - rooms.count_of(from, kind);
        if (more < 0 || is_free_[kind] == 0) price += price_ * std::abs(more);
      }
    }
  }
}

void JointBound::compute(int block_slots, const std::vector<BundleIndex>& standing_bundles, const PriceBound* prices) {
  prices_ = prices;
  const bool is_instant = std::ranges::find(case_.start_slots, 0) != case_.start_slots.end();
  if (is_instant || !is_always_fresh()) block_slots = 1;
  make_blocks(block_slots);
  changes_.allow_in_blocks(block_slots);
  find_free_kinds(standing_bundles);
  find_price();
  is_soon_created_ = is_soon_created();
  reachable_.clear();
  for (const ServiceIndex service : stale_services_) reachable_.push_back(reachable_phases(service));
  const std::size_t count = ix(states_.count());
  const std::size_t all = count * ix(phases_);
  const BlockIndex blocks(begins_.size() - 1);
  values_.resize(begins_.size() * all);
  taking_.resize(is_soon_created_ ? values_.size() : 0);
  make_cell(blocks, cell_);
  for (BlockIndex boundary = blocks; boundary >= 0; --boundary) {
    double* now = values_.data() + ix(boundary) * all;
    if (boundary < blocks) {
      std::copy_n(now + all, all, now);
      enter(begins_[boundary + 1], now);
    }
    make_cell(boundary - 1, cell_before_);
    const bool can_change = can_change_at(boundary);
    if (can_change) make_costs(boundary);
    for (int phases = 0; phases < phases_; ++phases) {
      double* values = now + ix(phases) * count;
      if (!is_reachable(begins_[boundary], phases)) {
        std::fill_n(values, count, kWorthless);
        take_spare(boundary, phases, false);
        continue;
      }
      std::vector<double> rewards;
      if (boundary == blocks) {
        hold_tail(phases, values);
      } else {
        if (!is_always_fresh()) rewards = rewards_of_rooms(begins_[boundary], phases);
        hold(boundary, phases, rewards, values);
      }
      if (can_change) {
        choose_costs(phases);
        changes_.make(costs_, rewards, takeover_at(boundary), values);
      }
      take_spare(boundary, phases, can_change);
    }
    get_done(begins_[boundary], now);
    if (!taking_.empty()) get_done(begins_[boundary], taking_.data() + ix(boundary) * all);
    std::swap(cell_, cell_before_);
  }
}

/// What is worth more where slices are spare at the boundary, from what it is worth where none is.
void JointBound::take_spare(BlockIndex boundary, int phases, bool can_change) {
  if (taking_.empty()) return;
  const std::size_t count = ix(states_.count());
  const std::size_t place = (ix(boundary) * ix(phases_) + ix(phases)) * count;
  std::copy_n(values_.data() + place, count, taking_.data() + place);
  if (can_change) changes_.take_spare(taking_.data() + place);
}

/// The phases that a model can be in, slot by slot: those of the others are not gone through.
std::vector<std::uint8_t> JointBound::reachable_phases(ServiceIndex service) const {
  constexpr int kFreshBit = 1 << kFresh;
  constexpr int kStuckBit = 1 << kStuck;
  constexpr int kTrainingBit = 1 << kTraining;
  const ServiceBound& bound = prices_->service(service);
  const RetrainingTerms& terms = *case_.problem.services[service].retraining;
  const int slots = case_.problem.slots;
  const auto may_finish = [&](SlotIndex from) {
    for (SlotIndex t = from; t <= slots; ++t) {
      if (t > from && bound.is_due(t) && !bound.keeps_unfinished()) return false;
      if (bound.may_be_done(t)) return true;
    }
    return false;
  };
  std::vector<std::uint8_t> reachable;
  int now = terms.is_stale && terms.fresh_in == 0 ? kStuckBit | kTrainingBit : kFreshBit;
  for (SlotIndex t(0); t <= slots; ++t) {
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

bool JointBound::is_reachable(SlotIndex slot, int phases) const {
  for (const std::vector<std::uint8_t>& reachable : reachable_) {
    if ((reachable[slot] >> phases % 3 & 1) == 0) return false;
    phases /= 3;
  }
  return true;
}

PhaseIndex JointBound::phase_of(int phases, ServiceIndex service) const {
  for (const ServiceIndex other : stale_services_) {
    if (other == service) return PhaseIndex(phases % 3);
    phases /= 3;
  }
  return kFresh;
}

/// What is due at a slot, backward: from the values after it to those before.
void JointBound::enter(SlotIndex slot, double* values) const {
  const std::size_t count = ix(states_.count());
  std::size_t stride = 1;
  for (const ServiceIndex service : stale_services_) {
    const ServiceBound& bound = prices_->service(service);
    for (std::size_t phases = 0; phases < ix(phases_) && bound.is_due(slot); ++phases) {
      if (phases / stride % 3 != kFresh) continue;
      double* fresh = values + phases * count;
      double* stuck = fresh + stride * count;
      double* training = stuck + stride * count;
      for (std::size_t state = 0; state < count; ++state) {
        fresh[state] = std::max(stuck[state], training[state]);
        if (bound.keeps_unfinished()) continue;
        stuck[state] = fresh[state];
        training[state] = kWorthless;
      }
    }
    stride *= 3;
  }
}

/// A retraining may be done at the beginning of a slot: what its progress was paid is charged.
void JointBound::get_done(SlotIndex slot, double* values) const {
  const std::size_t count = ix(states_.count());
  std::size_t stride = 1;
  for (const ServiceIndex service : stale_services_) {
    const ServiceBound& bound = prices_->service(service);
    const double charge = price_of_progress(service, slot) * kDone;
    for (std::size_t phases = 0; phases < ix(phases_) && bound.may_be_done(slot); ++phases) {
      if (phases / stride % 3 != kFresh) continue;
      const double* fresh = values + phases * count;
      double* training = values + (phases + 2 * stride) * count;
      for (std::size_t state = 0; state < count; ++state) {
        training[state] = std::max(training[state], fresh[state] - charge);
      }
    }
    stride *= 3;
  }
}

/// What progress is paid in a slot beside each room: the best pieces to retrain on that have room together.
std::vector<double> JointBound::rewards_of_rooms(SlotIndex slot, int phases) const {
  double outside = 0;
  for (const ServiceIndex service : stale_services_) {
    outside += price_in(slot, phase_of(phases, service), service) * case_.outside_progress(service, slot);
  }
  std::vector<double> rewards;
  rewards.reserve(ix(case_.rooms.count()));
  for (const RoomIndex room : Indices<RoomIndex>(case_.rooms.count())) {
    rewards.push_back(outside + best_reward(slot, phases, 0, room));
  }
  return rewards;
}

double JointBound::price_of_progress(ServiceIndex service, SlotIndex slot) const {
  return prices_->service(service).price_of_progress(slot) * progress_scales_[service];
}

double JointBound::price_in(SlotIndex slot, PhaseIndex phase, ServiceIndex service) const {
  if (phase == kFresh) return 0;
  return phase == kStuck ? prices_->service(service).stuck_price(slot) : price_of_progress(service, slot);
}

double JointBound::best_reward(SlotIndex slot, int phases, std::size_t next, RoomIndex room) const {
  if (next == stale_services_.size()) return 0;
  const ServiceIndex service = stale_services_[next];
  const double price = price_in(slot, phase_of(phases, service), service);
  double best = best_reward(slot, phases, next + 1, room);
  for (KindIndex kind(0); kind < kinds_ && price > 0; ++kind) {
    const double rate = case_.progress_rate(service, kind);
    const RoomIndex more = rate > 0 ? case_.rooms.add(room, kind) : kNoRoom;
    if (more != kNoRoom) best = std::max(best, price * rate + best_reward(slot, phases, next + 1, more));
  }
  return best;
}

/// Changes begin there, or begin in the block before and are counted in part at its end.
bool JointBound::can_change_at(BlockIndex boundary) const {
  const auto can = [&](BlockIndex block) {
    return block >= 0 && ix(block) < can_change_.size() && can_change_[block] != 0;
  };
  const bool is_long = boundary > 0 && begins_[boundary] - begins_[boundary - 1] > 1;
  return can(boundary) || (is_long && can(boundary - 1));
}

void JointBound::make_cell(BlockIndex block, Cell& cell) const {
  for (std::vector<double>* most : {&cell.given, &cell.created, &cell.dropped}) std::ranges::fill(*most, 0);
  if (block < 0 || ix(block) >= can_change_.size() || can_change_[block] == 0) return;
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    bend(service, block, 0, 1, cell.dropped);
    bend(service, block, case_.start_slots[service], -1, cell.given);
    bend(service, block, created_slots_[service], -1, cell.created);
  }
}

/// The most by which the sum of margins, from the begin of a block on, is above the straight line (sign 1) or below it
/// (sign -1).
void JointBound::bend(ServiceIndex service, BlockIndex block, int delay, double sign, std::vector<double>& most) const {
  const SlotIndex from = begins_[block];
  const SlotIndex end = begins_[block + 1];
  const double* first = margins(from + delay);
  const double* last = margins(end + delay);
  const std::size_t additions_end = ix(states_.additions_begin(service + 1));
  for (SlotIndex t = from + 1; t < end; ++t) {
    const double* now = margins(t + delay);
    const double share = static_cast<double>(t - from) / (end - from);
    for (std::size_t i = ix(states_.additions_begin(service)); i < additions_end; ++i) {
      const double more = sign * ((now[i] - first[i]) - share * (last[i] - first[i]));
      most[i] = std::max(most[i], more);
    }
  }
}

void JointBound::make_costs(BlockIndex boundary) {
  const bool may_take = !is_created_before(boundary);
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    for (const bool is_fresh : {false, true}) set_costs(service, boundary, is_fresh, costs_at_[is_fresh ? 1 : 0]);
  }
  for (Costs& costs : costs_at_) {
    for (std::size_t i = 0; i < states_.additions().size(); ++i) {
      costs.given[i] += std::max(cell_.given[i], cell_before_.given[i]);
      costs.created[i] += std::max(cell_.created[i], cell_before_.created[i]) - price_;
      if (may_take && is_free_[states_.additions()[i].kind] != 0) costs.created[i] = costs.given[i];
    }
  }
  costs_.price = price_;
  for (std::size_t i = 0; i < states_.additions().size(); ++i) {
    costs_.dropped[i] = std::max(cell_.dropped[i], cell_before_.dropped[i]);
  }
}

/// Whether whoever takes over a slice that serves nobody could have created it a slot before.
bool JointBound::is_created_before(BlockIndex boundary) const {
  return is_soon_created_ && boundary > 0 && can_change_[boundary - 1] != 0;
}

/// What stands at the first boundary, and serves nobody, is known.
JointChanges::Takeover JointBound::takeover_at(BlockIndex boundary) const {
  const bool retrains = !is_always_fresh();
  return {.while_training = retrains && is_soon_created_ && ix(boundary) < can_change_.size(),
          .at_once = retrains && boundary > 0 && !is_created_before(boundary)};
}

/// What pieces more of a service do not give until they are ready. A fresh model is fresh until the next one is due;
/// of all others that is unknown.
void JointBound::set_costs(ServiceIndex service, BlockIndex boundary, bool is_fresh, Costs& costs) const {
  const SlotIndex begin = begins_[boundary];
  const SlotIndex fresh_until = is_fresh && !fresh_margins_.empty() ? next_due(service, begin) : begin;
  const auto sums = [&](const std::vector<double>& margins, SlotIndex slot) {
    return margins.data() + ix(case_.capped(slot)) * states_.additions().size();
  };
  const auto set = [&](int delay, std::vector<double>& of) {
    const SlotIndex until = std::min(fresh_until, SlotIndex(begin + delay));
    const std::vector<double>& fresh = until > begin ? fresh_margins_ : margins_;
    const double* from = sums(fresh, begin);
    const double* due = sums(fresh, until);
    const double* after_due = sums(margins_, until);
    const double* ready = sums(margins_, begin + delay);
    const std::size_t additions_end = ix(states_.additions_begin(service + 1));
    for (std::size_t i = ix(states_.additions_begin(service)); i < additions_end; ++i) {
      of[i] = (from[i] - due[i]) + (after_due[i] - ready[i]);
    }
  };
  set(case_.start_slots[service], costs.given);
  set(created_slots_[service], costs.created);
}

/// The first slot after another in which a retraining is due; the end of the window where none is.
SlotIndex JointBound::next_due(ServiceIndex service, SlotIndex slot) const {
  const std::optional<RetrainingTerms>& terms = case_.problem.services[service].retraining;
  if (!terms) return case_.end();
  const auto next = std::ranges::upper_bound(terms->due_slots, slot);
  return next == terms->due_slots.end() ? case_.end() : *next;
}

/// Those that hold while the models are in these phases.
void JointBound::choose_costs(int phases) {
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    const Costs& costs = costs_at_[phase_of(phases, service) == kFresh ? 1 : 0];
    const auto first = static_cast<std::ptrdiff_t>(states_.additions_begin(service));
    const auto last = static_cast<std::ptrdiff_t>(states_.additions_begin(service + 1));
    std::copy(costs.given.begin() + first, costs.given.begin() + last, costs_.given.begin() + first);
    std::copy(costs.created.begin() + first, costs.created.begin() + last, costs_.created.begin() + first);
  }
}

void JointBound::hold(BlockIndex block, int phases, const std::vector<double>& rewards, double* values) const {
  const SlotIndex from = begins_[block];
  const SlotIndex end = begins_[block + 1];
  const bool binds = from >= case_.problem.floors_from;
  std::vector<double> gains;
  std::vector<std::size_t> begin_of;
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    const Worth& worth = phase_of(phases, service) == kFresh ? fresh_[service] : stale_[service];
    const int count = states_.holdings(service);
    begin_of.push_back(gains.size());
    const double* now = worth.sums.data() + ix(from) * ix(count);
    const double* next = worth.sums.data() + ix(end) * ix(count);
    for (const HoldingIndex i : Indices<HoldingIndex>(count)) {
      gains.push_back(binds && !states_.keeps_floor(service, i) ? kWorthless : next[i] - now[i]);
    }
  }
  add_gains(gains, begin_of, values);
  if (rewards.empty()) return;
  for (const StateIndex state : Indices<StateIndex>(states_.count())) values[state] += rewards[states_.room_of(state)];
}

void JointBound::hold_tail(int phases, double* values) const {
  const bool binds = case_.problem.floors_from < case_.problem.slots;
  std::vector<double> gains;
  std::vector<std::size_t> begin_of;
  double charge = 0;
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    const PhaseIndex phase = phase_of(phases, service);
    const SlotIndex slots = case_.end();
    if (phase == kTraining) {
      const ServiceBound& bound = prices_->service(service);
      charge += bound.may_be_done(slots) ? price_of_progress(service, slots) * kDone : -kWorthless;
    }
    const std::vector<double>& tail = phase == kStuck ? stale_[service].tail : fresh_[service].tail;
    begin_of.push_back(gains.size());
    for (const HoldingIndex i : Indices<HoldingIndex>(states_.holdings(service))) {
      gains.push_back(binds && !states_.keeps_floor(service, i) ? kWorthless : tail[i]);
    }
  }
  std::fill_n(values, states_.count(), -charge);
  add_gains(gains, begin_of, values);
}

/// Adds [service][holding] to each state.
void JointBound::add_gains(const std::vector<double>& gains, const std::vector<std::size_t>& begin_of,
                           double* values) const {
  const std::uint16_t* held = states_.held(StateIndex(0));
  for (const StateIndex state : Indices<StateIndex>(states_.count())) {
    double sum = values[state];
    for (const ServiceIndex service : indices_of<ServiceIndex>(begin_of)) sum += gains[begin_of[service] + *held++];
    values[state] = sum;
  }
}

double JointBound::loss_of_waiting(SlotIndex t, StateIndex state) const {
  const BlockIndex block = block_of_[t];
  if (t != begins_[block] || t == case_.problem.slots) return 0;
  const SlotIndex next = begins_[block + 1];
  double waits = values_[ix(block + 1) * ix(states_.count()) + ix(state)];
  const std::uint16_t* held = states_.held(state);
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    waits += served(service, HoldingIndex(held[service]), t, next);
    if (t >= case_.problem.floors_from && !states_.keeps_floor(service, HoldingIndex(held[service])))
      waits = kWorthless;
  }
  const double value = values_[ix(block) * ix(states_.count()) + ix(state)];
  return value - waits > kNoGain * std::abs(value) ? value - waits : 0;
}

std::vector<JointBound::Target> JointBound::targets(SlotIndex t, StateIndex state, double least) {
  const std::uint16_t* old = states_.held(state);
  std::vector<int> locks = {0};  // slots until all is ready: nothing begins, or the slowest service that gets more
  locks.insert(locks.end(), case_.start_slots.begin(), case_.start_slots.end());
  std::ranges::sort(locks);
  const auto repeated = std::ranges::unique(locks);
  locks.erase(repeated.begin(), repeated.end());
  std::vector<double> outcomes;  // [service][holding][lock]
  std::vector<std::size_t> begin_of;
  std::vector<std::uint8_t> lock_of;  // [service][holding]
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    begin_of.push_back(lock_of.size());
    add_outcomes(service, t, HoldingIndex(old[service]), locks, lock_of, outcomes);
  }
  std::vector<Between> places;
  places.reserve(locks.size());
  for (const int lock : locks) places.push_back(between(case_.capped(t + lock)));
  std::vector<Target> targets;
  const double* price_to = price_between_.data() + ix(states_.room_of(state)) * ix(case_.rooms.count());
  const std::uint16_t* held = states_.held(StateIndex(0));
  for (StateIndex to(0); to < states_.count(); ++to, held += services_) {
    if (!states_.may_begin(to)) continue;
    std::size_t lock = 0;
    for (std::size_t s = 0; s < begin_of.size(); ++s)
      lock = std::max<std::size_t>(lock, lock_of[begin_of[s] + held[s]]);
    const Between& place = places[lock];
    const double* row = values_.data() + ix(place.block) * ix(states_.count()) + ix(to);
    double value = (place.share < 1 ? (1 - place.share) * row[0] : 0) - price_to[states_.room_of(to)];
    if (place.share > 0) value += place.share * row[states_.count()];
    for (std::size_t s = 0; s < begin_of.size(); ++s) {
      value += outcomes[(begin_of[s] + held[s]) * locks.size() + lock];
    }
    if (value > least) targets.push_back({.state = to, .value = value, .staying = staying(t, to)});
  }
  return targets;
}

double JointBound::staying(SlotIndex t, StateIndex state) const {
  double value = 0;
  const std::uint16_t* held = states_.held(state);
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    value += served(service, HoldingIndex(held[service]), t, case_.end()) + fresh_[service].tail[held[service]];
  }
  return value;
}

/// What a service gets in a change at slot t until the lock ends, by holding and lock, less what the rest counts again.
void JointBound::add_outcomes(ServiceIndex service, SlotIndex t, HoldingIndex old, const std::vector<int>& locks,
                              std::vector<std::uint8_t>& lock_of, std::vector<double>& outcomes) {
  const std::size_t count = ix(states_.holdings(service));
  const auto sum = [&](SlotIndex slot) { return fresh_[service].sums.data() + ix(case_.capped(slot)) * count; };
  const std::vector<HoldingIndex>& common = states_.common_with(service, old);
  const int start = case_.start_slots[service];
  const auto own = std::ranges::lower_bound(locks, start) - locks.begin();
  for (std::size_t to = 0; to < count; ++to) {
    const std::size_t kept = ix(common[to]);
    lock_of.push_back(kept == to ? 0 : static_cast<std::uint8_t>(own));
    for (const int lock : locks) {
      const SlotIndex end = case_.capped(t + lock);
      const SlotIndex ready = kept == to ? t : case_.capped(t + std::min(start, lock));
      const Between place = between(end);
      const double counted = sum(place.begin)[to];
      outcomes.push_back((sum(ready)[kept] - sum(t)[kept]) + (sum(end)[to] - sum(ready)[to]) -
                         (sum(end)[to] - counted) + place.share * (sum(place.end)[to] - counted));
    }
  }
}

/// A change within a block is counted between its boundaries, so a later begin of the block counts in proportion.
JointBound::Between JointBound::between(SlotIndex t) const {
  const BlockIndex block = block_of_[t];
  const SlotIndex begin = begins_[block];
  if (t == begin) return {.block = block, .begin = begin, .end = begin, .share = 0};
  const SlotIndex end = begins_[block + 1];
  const double share = can_change_[block] != 0 ? static_cast<double>(t - begin) / (end - begin) : 1;
  return {.block = block, .begin = begin, .end = end, .share = share};
}

double JointBound::from(SlotIndex t, StateIndex state) const {
  const Between place = between(t);
  const double* row = values_.data() + ix(place.block) * ix(states_.count()) + ix(state);
  if (place.share <= 0) return *row;
  double before = 0;
  double block = 0;
  const std::uint16_t* held = states_.held(state);
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    before += served(service, HoldingIndex(held[service]), place.begin, t);
    block += served(service, HoldingIndex(held[service]), place.begin, place.end);
  }
  const double waits = block + row[states_.count()];
  return (place.share < 1 ? (1 - place.share) * *row + place.share * waits : waits) - before;
}

double JointBound::from(SlotIndex t, StateIndex state, const std::vector<ModelState>& models, bool has_spare) const {
  if (is_always_fresh()) return from(t, state);
  const std::size_t count = ix(states_.count());
  const std::vector<double>& table = has_spare && !taking_.empty() ? taking_ : values_;
  const double* values = table.data() + ix(block_of_[t]) * count * ix(phases_) + ix(state);
  double best = kWorthless;
  for (int phases = 0; phases < phases_; ++phases) {
    double value = values[ix(phases) * count];
    for (const ServiceIndex service : stale_services_) {
      if (value == kWorthless) break;
      const PhaseIndex phase = phase_of(phases, service);
      const ModelState& model = models[service];
      const bool fits = model.is_open() ? phase != kFresh : phase == kFresh;
      const bool gets_done = phase != kTraining || prices_->service(service).may_get_done(t, model.progress);
      value = fits && gets_done ? value + price_in(t, phase, service) * model.progress : kWorthless;
    }
    best = std::max(best, value);
  }
  return best;
}

}  // namespace berth::planner
