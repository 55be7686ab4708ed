#include "planner/detail/joint_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace berth::planner {
namespace {

/// Relative: what differs by less is rounding.
constexpr double kNoGain = 1e-9;
constexpr double kWorthless = -std::numeric_limits<double>::infinity();

/// Isolation and trust domains allow the two to share a GPU.
bool may_be_neighbours(const ServiceTerms& a, const ServiceTerms& b) {
  return !a.is_alone_on_gpu && !b.is_alone_on_gpu && a.trust_domain == b.trust_domain;
}

/// The two largest of some values.
struct TwoLargest {
  double largest = kWorthless;
  double second = kWorthless;

  void add(double value) {
    second = std::max(second, std::min(largest, value));
    largest = std::max(largest, value);
  }
  /// The largest of all others.
  [[nodiscard]] double without(double value) const { return value == largest ? second : largest; }
};

}  // namespace

JointBound::JointBound(const GpuCase& gpu_case, Variants variants, int states_max)
    : case_(gpu_case),
      variants_(variants),
      services_(static_cast<int>(gpu_case.problem.services.size())),
      kinds_(gpu_case.rooms.kinds()),
      progress_scales_(ix(services_), 1.0) {
  find_phases();
  const Problem& problem = gpu_case.problem;
  for (int service = 0; service < services_; ++service) {
    add_holdings(service);
    const double start = problem.services[ix(service)].start_seconds;
    created_slots_.push_back(slots_of_seconds(problem.plumbing_seconds + start + problem.create_seconds));
  }
  if (!count_states(states_max / phases_)) return;
  is_usable_ = true;
  for (int service = 0; service < services_; ++service) {
    Holdings& holdings = holdings_[ix(service)];
    add_values(service, true, holdings.sums, holdings.tail);
    if (std::ranges::find(stale_services_, service) == stale_services_.end()) continue;
    add_values(service, false, holdings.stale_sums, holdings.stale_tail);
  }
  make_states();
  make_edges();
  make_margins();
}

void JointBound::find_phases() {
  constexpr int kPhasesMax = 81;
  for (int service = 0; service < services_; ++service) {
    const std::optional<RetrainingTerms>& terms = case_.problem.services[ix(service)].retraining;
    if (!terms || (!terms->is_stale && terms->due_slots.empty())) continue;
    stale_services_.push_back(service);
    phases_ = std::min(phases_, kPhasesMax) * 3;
  }
}

void JointBound::add_holdings(int service) {
  const Bundles& bundles = case_.bundles[ix(service)];
  const std::size_t labels = bundles.labels.size();
  Holdings holdings;
  std::vector<int> bundle_of;  // [holding], the first
  for (int bundle = 0; bundle < bundles.count(); ++bundle) {
    const auto begin = bundles.counts.begin() + static_cast<std::ptrdiff_t>(ix(bundle) * labels);
    std::vector<std::uint8_t> counts(begin, begin + static_cast<std::ptrdiff_t>(labels));
    if (variants_ == Variants::kFree) counts = counts_by_kind(bundles, counts);
    const char keeps = case_.keeps_floor(service, bundles.rate[ix(bundle)]) ? 1 : 0;
    const auto [place, is_new] = holdings.of_counts.try_emplace(counts, holdings.count());
    holdings.of_bundle.push_back(place->second);
    holdings.bundles.resize(holdings.of_counts.size());
    holdings.bundles[ix(place->second)].push_back(bundle);
    if (!is_new) {
      char& keeps_already = holdings.keeps_floor[ix(place->second)];
      keeps_already = std::max(keeps_already, keeps);
      continue;
    }
    holdings.counts.push_back(std::move(counts));
    holdings.room.push_back(bundles.room[ix(bundle)]);
    holdings.keeps_floor.push_back(keeps);
    bundle_of.push_back(bundle);
  }
  steps_begin_.push_back(static_cast<int>(steps_.size()));
  for (int from = 0; from < holdings.count(); ++from) {
    holdings.steps_begin.push_back(static_cast<int>(steps_.size()));
    for (int label = 0; ix(label) < labels; ++label) {
      const int more = bundles.plus(bundle_of[ix(from)], label);
      if (more == kNoBundle) continue;
      const Step step{
          .service = service, .from = from, .to = holdings.of_bundle[ix(more)], .kind = bundles.labels[ix(label)].kind};
      const bool is_new = ix(holdings.steps_begin.back()) == steps_.size() || steps_.back().to != step.to;
      if (is_new) steps_.push_back(step);
    }
  }
  holdings.steps_begin.push_back(static_cast<int>(steps_.size()));
  holdings.common.resize(ix(holdings.count()));
  holdings_.push_back(std::move(holdings));
}

std::vector<std::uint8_t> JointBound::counts_by_kind(const Bundles& bundles,
                                                     const std::vector<std::uint8_t>& by_label) const {
  std::vector<std::uint8_t> counts(ix(kinds_));
  for (std::size_t label = 0; label < by_label.size(); ++label) {
    std::uint8_t& count = counts[ix(bundles.labels[label].kind)];
    count = static_cast<std::uint8_t>(count + by_label[label]);
  }
  return counts;
}

/// Of each holding, the best variants in each slot by themselves.
void JointBound::add_values(int service, bool is_fresh, std::vector<double>& sums, std::vector<double>& tail) const {
  const Bundles& bundles = case_.bundles[ix(service)];
  const Served& served = case_.served[ix(service)];
  const Holdings& holdings = holdings_[ix(service)];
  const std::size_t count = ix(holdings.count());
  const int slots = case_.problem.slots;
  sums.assign(count * ix(slots + 1), kWorthless);
  tail.assign(count, kWorthless);
  for (int bundle = 0; bundle < bundles.count(); ++bundle) {
    const int level = bundles.level[ix(bundle)];
    const std::size_t holding = ix(holdings.of_bundle[ix(bundle)]);
    for (int t = 0; t < slots; ++t) {
      double& most = sums[ix(t + 1) * count + holding];
      most = std::max(most, is_fresh ? case_.value_when_done(service, level, t) : served.value(level, false, t, t + 1));
    }
    tail[holding] = std::max(tail[holding], served.tail(level, is_fresh));
  }
  std::fill_n(sums.begin(), count, 0);
  for (std::size_t i = count; i < sums.size(); ++i) sums[i] += sums[i - count];
}

bool JointBound::count_states(int states_max) {
  const Rooms& rooms = case_.rooms;
  std::vector<std::int64_t> of_room(ix(rooms.count()));
  of_room.front() = 1;
  std::int64_t all = 1;
  for (const Holdings& holdings : holdings_) {
    std::vector<std::int64_t> next(ix(rooms.count()));
    all = 0;
    for (int room = 0; room < rooms.count(); ++room) {
      for (int holding = 0; holding < holdings.count() && of_room[ix(room)] > 0; ++holding) {
        const int joined = rooms.join(room, holdings.room[ix(holding)]);
        if (joined == kNoRoom) continue;
        next[ix(joined)] += of_room[ix(room)];
        all += of_room[ix(room)];
      }
    }
    of_room = std::move(next);
    if (all > states_max) return false;
  }
  states_ = static_cast<int>(all);
  return true;
}

/// Service by service, so that a piece more leads to a larger number.
void JointBound::make_states() {
  const Rooms& rooms = case_.rooms;
  std::vector<int> room_of = {0};
  std::vector<std::uint16_t> held;
  std::vector<std::uint16_t> held_before;
  for (int service = 0; service < services_; ++service) {
    Holdings& holdings = holdings_[ix(service)];
    holdings.rank.assign(ix(rooms.count()), {});
    std::vector<int> rooms_before = std::move(room_of);
    room_of.clear();
    std::swap(held, held_before);
    held.clear();
    for (std::size_t before = 0; before < rooms_before.size(); ++before) {
      holdings.first_child.push_back(static_cast<int>(room_of.size()));
      std::vector<int>& rank = holdings.rank[ix(rooms_before[before])];
      const bool is_new = rank.empty();
      int fitting = 0;
      for (int holding = 0; holding < holdings.count(); ++holding) {
        const int joined = rooms.join(rooms_before[before], holdings.room[ix(holding)]);
        if (is_new) rank.push_back(joined == kNoRoom ? -1 : fitting);
        if (joined == kNoRoom) continue;
        ++fitting;
        room_of.push_back(joined);
        const auto parent = held_before.begin() + static_cast<std::ptrdiff_t>(before) * service;
        held.insert(held.end(), parent, parent + service);
        held.push_back(static_cast<std::uint16_t>(holding));
      }
    }
  }
  held_ = std::move(held);
  rooms_ = std::move(room_of);
}

int JointBound::number_of(const std::uint16_t* holdings) const {
  int number = 0;
  int room = 0;
  for (int service = 0; service < services_; ++service) {
    const Holdings& all = holdings_[ix(service)];
    const int holding = holdings[service];
    number = all.first_child[ix(number)] + all.rank[ix(room)][ix(holding)];
    room = case_.rooms.join(room, all.room[ix(holding)]);
  }
  return number;
}

int JointBound::state_of(const std::vector<int>& bundles) const {
  std::vector<std::uint16_t> holdings;
  holdings.reserve(bundles.size());
  for (std::size_t service = 0; service < bundles.size(); ++service) {
    holdings.push_back(static_cast<std::uint16_t>(holdings_[service].of_bundle[ix(bundles[service])]));
  }
  return number_of(holdings.data());
}

bool JointBound::may_stand(int state) const {
  const std::uint16_t* held = held_.data() + ix(state) * ix(services_);
  for (int a = 0; a < services_; ++a) {
    for (int b = a + 1; b < services_ && held[a] != 0; ++b) {
      if (held[b] != 0 && !may_be_neighbours(case_.problem.services[ix(a)], case_.problem.services[ix(b)]))
        return false;
    }
  }
  return true;
}

void JointBound::make_edges() {
  std::vector<std::uint16_t> held(ix(services_));
  edges_begin_.push_back(0);
  may_begin_.reserve(ix(states_));
  for (int state = 0; state < states_; ++state) {
    const std::uint16_t* now = held_.data() + ix(state) * ix(services_);
    std::copy_n(now, services_, held.begin());
    for (int kind = 0; kind < kinds_; ++kind) {
      if (case_.rooms.add(rooms_[ix(state)], kind) == kNoRoom) continue;
      const std::size_t first = edges_.size();
      for (int service = 0; service < services_; ++service) {
        const std::vector<int>& begin = holdings_[ix(service)].steps_begin;
        for (int i = begin[ix(now[service])]; i < begin[ix(now[service]) + 1]; ++i) {
          if (steps_[ix(i)].kind != kind) continue;
          held[ix(service)] = static_cast<std::uint16_t>(steps_[ix(i)].to);
          edges_.push_back({.to = number_of(held.data()), .step = static_cast<std::int16_t>(i)});
        }
        held[ix(service)] = now[service];
      }
      if (edges_.size() > first) edges_.back().is_last_of_kind = 1;
    }
    edges_begin_.push_back(static_cast<int>(edges_.size()));
    may_begin_.push_back(may_stand(state) ? 1 : 0);
  }
}

void JointBound::make_margins() {
  steps_begin_.push_back(static_cast<int>(steps_.size()));
  margins_ = margins_where(false);
  if (!is_always_fresh()) fresh_margins_ = margins_where(true);
  for (Costs* costs : {&costs_at_[0], &costs_at_[1], &costs_}) {
    costs->given.resize(steps_.size());
    costs->created.resize(steps_.size());
  }
  dropped_.resize(steps_.size());
  for (Cell* cell : {&cell_, &cell_before_}) {
    for (std::vector<double>* more : {&cell->given, &cell->created, &cell->dropped}) more->resize(steps_.size());
  }
  for (std::vector<double>* each : {&changed_.created, &changed_.given, &changed_.training, &changed_.handed_one,
                                    &changed_.handed_all, &changed_.handed_two}) {
    each->resize(ix(states_));
  }
  is_free_.assign(ix(kinds_), 0);
}

std::vector<double> JointBound::margins_where(bool is_surely_fresh) const {
  std::vector<double> margins(steps_.size() * ix(case_.problem.slots + 1));
  for (int t = 0; t < case_.problem.slots; ++t) {
    const double* before = margins.data() + ix(t) * steps_.size();
    double* now = margins.data() + ix(t + 1) * steps_.size();
    for (std::size_t i = 0; i < steps_.size(); ++i) now[i] = before[i] + margin_of(steps_[i], t, is_surely_fresh);
  }
  return margins;
}

/// What a piece more serves in a slot, at least.
double JointBound::margin_of(const Step& step, int slot, bool is_surely_fresh) const {
  const Holdings& holdings = holdings_[ix(step.service)];
  const auto of = [&](const std::vector<double>& sums) {
    const double* now = sums.data() + ix(slot) * ix(holdings.count());
    const double* next = now + holdings.count();
    return (next[step.to] - next[step.from]) - (now[step.to] - now[step.from]);
  };
  const double fresh = of(holdings.sums);
  const bool is_known = is_surely_fresh && !case_.may_lose_by_swap(step.service);
  return is_known || holdings.stale_sums.empty() ? fresh : std::min(fresh, of(holdings.stale_sums));
}

/// Blocks end where floors begin to bind and where a frozen stretch begins or ends.
void JointBound::make_blocks(int block_slots) {
  const Problem& problem = case_.problem;
  begins_.clear();
  can_change_.clear();
  block_of_.assign(ix(problem.slots + 1), 0);
  for (int t = case_.first_slot; t < problem.slots; ++t) {
    const char can = case_.can_change(t) ? 1 : 0;
    const bool is_next =
        begins_.empty() || t - begins_.back() >= block_slots || t == problem.floors_from || can != can_change_.back();
    if (is_next) {
      begins_.push_back(t);
      can_change_.push_back(can);
    }
    block_of_[ix(t)] = static_cast<int>(begins_.size()) - 1;
  }
  block_of_[ix(problem.slots)] = static_cast<int>(begins_.size());
  begins_.push_back(problem.slots);
}

void JointBound::make_quick_edges(int block_slots) {
  int soonest = block_slots;
  for (const Step& step : steps_) soonest = std::min(soonest, case_.start_slots[ix(step.service)]);
  quick_rounds_ = soonest > 0 && soonest < block_slots ? (block_slots + soonest - 1) / soonest : 0;
  quick_edges_.clear();
  quick_begin_.clear();
  if (quick_rounds_ == 0) return;
  quick_begin_.push_back(0);
  for (int state = 0; state < states_; ++state) {
    for (int i = edges_begin_[ix(state)]; i < edges_begin_[ix(state + 1)]; ++i) {
      const int service = steps_[ix(edges_[ix(i)].step)].service;
      if (case_.start_slots[ix(service)] < block_slots) quick_edges_.push_back(edges_[ix(i)]);
    }
    quick_begin_.push_back(static_cast<int>(quick_edges_.size()));
  }
}

/// Kinds of which a piece stands that serves nobody: whoever takes it need not create one.
void JointBound::find_free_kinds(const std::vector<int>& standing_bundles) {
  std::vector<int> left(ix(kinds_));
  for (const StandingPiece& standing : case_.gpu.standing) {
    ++left[ix(case_.model.sites[ix(standing.piece.site)].kind)];
  }
  for (std::size_t service = 0; service < standing_bundles.size(); ++service) {
    const Bundles& bundles = case_.bundles[service];
    for (int label = 0; ix(label) < bundles.labels.size(); ++label) {
      left[ix(bundles.labels[ix(label)].kind)] -= bundles.count_of(standing_bundles[service], label);
    }
  }
  for (int kind = 0; kind < kinds_; ++kind) is_free_[ix(kind)] = left[ix(kind)] > 0 ? 1 : 0;
}

void JointBound::find_training_rooms() {
  const Rooms& rooms = case_.rooms;
  trains_beside_.assign(ix(rooms.count()), 0);
  trains_on_.assign(ix(kinds_), 0);
  for (const int service : stale_services_) {
    for (int kind = 0; kind < kinds_; ++kind) {
      if (case_.progress_rate(service, kind) <= 0) continue;
      trains_on_[ix(kind)] = 1;
      for (int room = 0; room < rooms.count(); ++room) {
        if (rooms.add(room, kind) != kNoRoom) trains_beside_[ix(room)] = 1;
      }
    }
  }
}

/// Whether a piece that is created one slot before is ready no later than one that is handed over, and may stand beside
/// all others then. So whoever takes over a slice that serves nobody could have created it in its room a slot before,
/// but for what would have been made by retraining on it in that slot.
bool JointBound::is_soon_created() const {
  if (price_ > 0 || is_always_fresh()) return false;
  const ServiceTerms& first = case_.problem.services.front();
  for (int service = 0; service < services_; ++service) {
    if (created_slots_[ix(service)] > case_.start_slots[ix(service)] + 1) return false;
    const ServiceTerms& terms = case_.problem.services[ix(service)];
    if (services_ > 1 && !may_be_neighbours(first, terms)) return false;
  }
  return true;
}

/// A slice that nobody serves with any more is destroyed, but where it could be had to retrain on, needed or not.
void JointBound::find_price() {
  price_ = case_.problem.change_price;
  for (int service = 0; service < services_; ++service) {
    for (int kind = 0; kind < kinds_; ++kind) {
      if (case_.progress_rate(service, kind) > 0) price_ = 0;
    }
  }
  const Rooms& rooms = case_.rooms;
  price_between_.assign(ix(rooms.count()) * ix(rooms.count()), 0);
  for (int from = 0; from < rooms.count() && price_ > 0; ++from) {
    for (int to = 0; to < rooms.count(); ++to) {
      double& price = price_between_[ix(from) * ix(rooms.count()) + ix(to)];
      for (int kind = 0; kind < kinds_; ++kind) {
        const int more = rooms.count_of(to, kind) - rooms.count_of(from, kind);
        if (more < 0 || is_free_[ix(kind)] == 0) price += price_ * std::abs(more);
      }
    }
  }
}

void JointBound::compute(int block_slots, const std::vector<int>& standing_bundles, const PriceBound* prices) {
  prices_ = prices;
  const bool is_instant = std::ranges::find(case_.start_slots, 0) != case_.start_slots.end();
  if (is_instant || !is_always_fresh()) block_slots = 1;
  make_blocks(block_slots);
  make_quick_edges(block_slots);
  find_free_kinds(standing_bundles);
  find_training_rooms();
  find_price();
  is_soon_created_ = is_soon_created();
  reachable_.clear();
  for (const int service : stale_services_) reachable_.push_back(reachable_phases(service));
  const std::size_t count = ix(states_);
  const std::size_t all = count * ix(phases_);
  const int blocks = static_cast<int>(begins_.size()) - 1;
  values_.resize(begins_.size() * all);
  make_cell(blocks, cell_);
  for (int boundary = blocks; boundary >= 0; --boundary) {
    double* now = values_.data() + ix(boundary) * all;
    if (boundary < blocks) {
      std::copy_n(now + all, all, now);
      enter(begins_[ix(boundary + 1)], now);
    }
    make_cell(boundary - 1, cell_before_);
    const bool can_change = can_change_at(boundary);
    if (can_change) make_costs(boundary);
    for (int phases = 0; phases < phases_; ++phases) {
      double* values = now + ix(phases) * count;
      if (!is_reachable(begins_[ix(boundary)], phases)) {
        std::fill_n(values, count, kWorthless);
        continue;
      }
      std::vector<double> rewards;
      if (boundary == blocks) {
        hold_tail(phases, values);
      } else {
        if (!is_always_fresh()) rewards = rewards_of_rooms(begins_[ix(boundary)], phases);
        hold(boundary, phases, rewards, values);
      }
      if (!can_change) continue;
      choose_costs(phases);
      change(boundary, rewards, values);
      for (int round = 0; round < quick_rounds_; ++round) change_quickly(values);
    }
    get_done(begins_[ix(boundary)], now);
    std::swap(cell_, cell_before_);
  }
}

/// The phases that a model can be in, slot by slot: those of the others are not gone through.
std::vector<std::uint8_t> JointBound::reachable_phases(int service) const {
  constexpr int kFreshBit = 1 << kFresh;
  constexpr int kStuckBit = 1 << kStuck;
  constexpr int kTrainingBit = 1 << kTraining;
  const ServiceBound& bound = prices_->service(service);
  const RetrainingTerms& terms = *case_.problem.services[ix(service)].retraining;
  const int slots = case_.problem.slots;
  const auto may_finish = [&](int from) {
    for (int t = from; t <= slots; ++t) {
      if (t > from && bound.is_due(t) && !bound.keeps_unfinished()) return false;
      if (bound.may_be_done(t)) return true;
    }
    return false;
  };
  std::vector<std::uint8_t> reachable;
  int now = terms.is_stale && terms.fresh_in == 0 ? kStuckBit | kTrainingBit : kFreshBit;
  for (int t = 0; t <= slots; ++t) {
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

bool JointBound::is_reachable(int slot, int phases) const {
  for (const std::vector<std::uint8_t>& reachable : reachable_) {
    if ((reachable[ix(slot)] >> phases % 3 & 1) == 0) return false;
    phases /= 3;
  }
  return true;
}

int JointBound::phase_of(int phases, int service) const {
  for (const int other : stale_services_) {
    if (other == service) return phases % 3;
    phases /= 3;
  }
  return kFresh;
}

/// What is due at a slot, backward: from the values after it to those before.
void JointBound::enter(int slot, double* values) const {
  const std::size_t count = ix(states_);
  std::size_t stride = 1;
  for (const int service : stale_services_) {
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
void JointBound::get_done(int slot, double* values) const {
  const std::size_t count = ix(states_);
  std::size_t stride = 1;
  for (const int service : stale_services_) {
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
std::vector<double> JointBound::rewards_of_rooms(int slot, int phases) const {
  double outside = 0;
  for (const int service : stale_services_) {
    outside += price_in(slot, phase_of(phases, service), service) * case_.outside_progress(service, slot);
  }
  std::vector<double> rewards;
  rewards.reserve(ix(case_.rooms.count()));
  for (int room = 0; room < case_.rooms.count(); ++room) {
    rewards.push_back(outside + best_reward(slot, phases, 0, room));
  }
  return rewards;
}

double JointBound::price_of_progress(int service, int slot) const {
  return prices_->service(service).price_of_progress(slot) * progress_scales_[ix(service)];
}

double JointBound::price_in(int slot, int phase, int service) const {
  if (phase == kFresh) return 0;
  return phase == kStuck ? prices_->service(service).stuck_price(slot) : price_of_progress(service, slot);
}

double JointBound::best_reward(int slot, int phases, std::size_t next, int room) const {
  if (next == stale_services_.size()) return 0;
  const int service = stale_services_[next];
  const double price = price_in(slot, phase_of(phases, service), service);
  double best = best_reward(slot, phases, next + 1, room);
  for (int kind = 0; kind < kinds_ && price > 0; ++kind) {
    const double rate = case_.progress_rate(service, kind);
    const int more = rate > 0 ? case_.rooms.add(room, kind) : kNoRoom;
    if (more != kNoRoom) best = std::max(best, price * rate + best_reward(slot, phases, next + 1, more));
  }
  return best;
}

/// Changes begin there, or begin in the block before and are counted in part at its end.
bool JointBound::can_change_at(int boundary) const {
  const auto can = [&](int block) {
    return block >= 0 && ix(block) < can_change_.size() && can_change_[ix(block)] != 0;
  };
  const bool is_long = boundary > 0 && begins_[ix(boundary)] - begins_[ix(boundary - 1)] > 1;
  return can(boundary) || (is_long && can(boundary - 1));
}

void JointBound::make_cell(int block, Cell& cell) const {
  for (std::vector<double>* most : {&cell.given, &cell.created, &cell.dropped}) std::ranges::fill(*most, 0);
  if (block < 0 || ix(block) >= can_change_.size() || can_change_[ix(block)] == 0) return;
  for (int service = 0; service < services_; ++service) {
    bend(service, block, 0, 1, cell.dropped);
    bend(service, block, case_.start_slots[ix(service)], -1, cell.given);
    bend(service, block, created_slots_[ix(service)], -1, cell.created);
  }
}

/// The most by which the sum of margins, from the begin of a block on, is above the straight line (sign 1) or below it
/// (sign -1).
void JointBound::bend(int service, int block, int delay, double sign, std::vector<double>& most) const {
  const int from = begins_[ix(block)];
  const int end = begins_[ix(block + 1)];
  const double* first = margins(from + delay);
  const double* last = margins(end + delay);
  const std::size_t steps_end = ix(steps_begin_[ix(service + 1)]);
  for (int t = from + 1; t < end; ++t) {
    const double* now = margins(t + delay);
    const double share = static_cast<double>(t - from) / (end - from);
    for (std::size_t i = ix(steps_begin_[ix(service)]); i < steps_end; ++i) {
      const double more = sign * ((now[i] - first[i]) - share * (last[i] - first[i]));
      most[i] = std::max(most[i], more);
    }
  }
}

void JointBound::make_costs(int boundary) {
  const bool may_take = !is_created_before(boundary);
  for (int service = 0; service < services_; ++service) {
    for (const bool is_fresh : {false, true}) set_costs(service, boundary, is_fresh, costs_at_[is_fresh ? 1 : 0]);
  }
  for (Costs& costs : costs_at_) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      costs.given[i] += std::max(cell_.given[i], cell_before_.given[i]);
      costs.created[i] += std::max(cell_.created[i], cell_before_.created[i]) - price_;
      if (may_take && is_free_[ix(steps_[i].kind)] != 0) costs.created[i] = costs.given[i];
    }
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) dropped_[i] = std::max(cell_.dropped[i], cell_before_.dropped[i]);
}

/// Whether whoever takes over a slice that serves nobody could have created it a slot before.
bool JointBound::is_created_before(int boundary) const {
  return is_soon_created_ && boundary > 0 && can_change_[ix(boundary - 1)] != 0;
}

/// What pieces more of a service do not give until they are ready. A fresh model is fresh until the next one is due;
/// of all others that is unknown.
void JointBound::set_costs(int service, int boundary, bool is_fresh, Costs& costs) const {
  const int begin = begins_[ix(boundary)];
  const int fresh_until = is_fresh && !fresh_margins_.empty() ? next_due(service, begin) : begin;
  const auto sums = [&](const std::vector<double>& margins, int slot) {
    return margins.data() + ix(std::min(slot, case_.problem.slots)) * steps_.size();
  };
  const auto set = [&](int delay, std::vector<double>& of) {
    const int until = std::min(fresh_until, begin + delay);
    const std::vector<double>& fresh = until > begin ? fresh_margins_ : margins_;
    const double* from = sums(fresh, begin);
    const double* due = sums(fresh, until);
    const double* after_due = sums(margins_, until);
    const double* ready = sums(margins_, begin + delay);
    const std::size_t steps_end = ix(steps_begin_[ix(service + 1)]);
    for (std::size_t i = ix(steps_begin_[ix(service)]); i < steps_end; ++i) {
      of[i] = (from[i] - due[i]) + (after_due[i] - ready[i]);
    }
  };
  set(case_.start_slots[ix(service)], costs.given);
  set(created_slots_[ix(service)], costs.created);
}

/// The first slot after another in which a retraining is due; the end of the window where none is.
int JointBound::next_due(int service, int slot) const {
  const std::optional<RetrainingTerms>& terms = case_.problem.services[ix(service)].retraining;
  if (!terms) return case_.problem.slots;
  const auto next = std::ranges::upper_bound(terms->due_slots, slot);
  return next == terms->due_slots.end() ? case_.problem.slots : *next;
}

/// Those that hold while the models are in these phases.
void JointBound::choose_costs(int phases) {
  for (int service = 0; service < services_; ++service) {
    const Costs& costs = costs_at_[phase_of(phases, service) == kFresh ? 1 : 0];
    const auto first = static_cast<std::ptrdiff_t>(steps_begin_[ix(service)]);
    const auto last = static_cast<std::ptrdiff_t>(steps_begin_[ix(service + 1)]);
    std::copy(costs.given.begin() + first, costs.given.begin() + last, costs_.given.begin() + first);
    std::copy(costs.created.begin() + first, costs.created.begin() + last, costs_.created.begin() + first);
  }
}

void JointBound::hold(int block, int phases, const std::vector<double>& rewards, double* values) const {
  const int from = begins_[ix(block)];
  const int end = begins_[ix(block + 1)];
  const bool binds = from >= case_.problem.floors_from;
  std::vector<double> gains;
  std::vector<std::size_t> begin_of;
  for (int service = 0; service < services_; ++service) {
    const Holdings& holdings = holdings_[ix(service)];
    const std::vector<double>& sums = phase_of(phases, service) == kFresh ? holdings.sums : holdings.stale_sums;
    begin_of.push_back(gains.size());
    const double* now = sums.data() + ix(from) * ix(holdings.count());
    const double* next = sums.data() + ix(end) * ix(holdings.count());
    for (int i = 0; i < holdings.count(); ++i) {
      gains.push_back(binds && holdings.keeps_floor[ix(i)] == 0 ? kWorthless : next[i] - now[i]);
    }
  }
  add_gains(gains, begin_of, values);
  if (rewards.empty()) return;
  for (int state = 0; state < states_; ++state) values[state] += rewards[ix(rooms_[ix(state)])];
}

void JointBound::hold_tail(int phases, double* values) const {
  const bool binds = case_.problem.floors_from < case_.problem.slots;
  std::vector<double> gains;
  std::vector<std::size_t> begin_of;
  double charge = 0;
  for (int service = 0; service < services_; ++service) {
    const Holdings& holdings = holdings_[ix(service)];
    const int phase = phase_of(phases, service);
    const int slots = case_.problem.slots;
    if (phase == kTraining) {
      const ServiceBound& bound = prices_->service(service);
      charge += bound.may_be_done(slots) ? price_of_progress(service, slots) * kDone : -kWorthless;
    }
    const std::vector<double>& tail = phase == kStuck ? holdings.stale_tail : holdings.tail;
    begin_of.push_back(gains.size());
    for (int i = 0; i < holdings.count(); ++i) {
      gains.push_back(binds && holdings.keeps_floor[ix(i)] == 0 ? kWorthless : tail[ix(i)]);
    }
  }
  std::fill_n(values, states_, -charge);
  add_gains(gains, begin_of, values);
}

/// Adds [service][holding] to each state.
void JointBound::add_gains(const std::vector<double>& gains, const std::vector<std::size_t>& begin_of,
                           double* values) const {
  const std::uint16_t* held = held_.data();
  for (int state = 0; state < states_; ++state) {
    double sum = values[state];
    for (std::size_t service = 0; service < begin_of.size(); ++service) sum += gains[begin_of[service] + *held++];
    values[state] = sum;
  }
}

void JointBound::change(int boundary, const std::vector<double>& rewards, double* values) {
  add_pieces(rewards, values);
  drop_pieces(values);
  if (!is_always_fresh()) take_from_training(boundary, rewards, values);
}

/// Backward: what is added, one by one, from the last state on; who hands over.
void JointBound::add_pieces(const std::vector<double>& rewards, const double* values) {
  std::ranges::fill(changed_.handed_one, kWorthless);
  std::ranges::fill(changed_.handed_all, kWorthless);
  const auto stays = [&](int state) { return may_begin_[ix(state)] != 0 ? values[state] : kWorthless; };
  const auto without_reward = [&](int state) { return stays(state) - rewards[ix(rooms_[ix(state)])]; };
  // No more slices retrain at once than there are services for it.
  const bool is_one = stale_services_.size() == 1;
  for (int state = states_ - 1; state >= 0; --state) {
    double created = stays(state);
    double given = created;
    double training = rewards.empty() ? kWorthless : without_reward(state);
    for (int i = edges_begin_[ix(state)]; i < edges_begin_[ix(state + 1)]; ++i) {
      const Edge& edge = edges_[ix(i)];
      const double cost = costs_.created[ix(edge.step)];
      created = std::max(created, changed_.created[ix(edge.to)] + cost);
      given = std::max(given, changed_.given[ix(edge.to)] + costs_.given[ix(edge.step)]);
      if (rewards.empty() || trains_on_[ix(steps_[ix(edge.step)].kind)] == 0) continue;
      training = std::max(training, (is_one ? without_reward(edge.to) : changed_.training[ix(edge.to)]) + cost);
    }
    changed_.created[ix(state)] = created;
    changed_.given[ix(state)] = given;
    changed_.training[ix(state)] = training;
    hand_over(state);
  }
}

/// A piece more of one service in the place of one of another that a larger state drops.
void JointBound::hand_over(int state) {
  TwoLargest one;
  TwoLargest all;
  int begin = edges_begin_[ix(state)];
  for (int i = begin; i < edges_begin_[ix(state + 1)]; ++i) {
    const Edge& taker = edges_[ix(i)];
    one.add(changed_.created[ix(taker.to)] + costs_.given[ix(taker.step)]);
    all.add(changed_.given[ix(taker.to)] + costs_.given[ix(taker.step)]);
    if (taker.is_last_of_kind == 0) continue;
    for (; begin <= i; ++begin) {
      const Edge& giver = edges_[ix(begin)];
      const double cost = costs_.given[ix(giver.step)];
      const double dropped = dropped_[ix(giver.step)];
      double& by_one = changed_.handed_one[ix(giver.to)];
      by_one = std::max(by_one, one.without(changed_.created[ix(giver.to)] + cost) + dropped);
      double& by_all = changed_.handed_all[ix(giver.to)];
      by_all = std::max(by_all, all.without(changed_.given[ix(giver.to)] + cost) + dropped);
    }
    one = all = {};
  }
}

/// Forward: what is dropped before, one by one.
void JointBound::drop_pieces(double* values) {
  const auto raise = [](double& value, double other) { value = std::max(value, other); };
  std::ranges::fill(changed_.handed_two, kWorthless);
  for (int state = 0; state < states_; ++state) raise(values[state], changed_.created[ix(state)]);
  for (int state = 0; state < states_; ++state) {
    const std::size_t now = ix(state);
    for (int i = edges_begin_[now]; i < edges_begin_[now + 1]; ++i) {
      const Edge& edge = edges_[ix(i)];
      const std::size_t to = ix(edge.to);
      const double dropped = dropped_[ix(edge.step)];
      raise(values[to], values[state] + dropped - price_);
      raise(changed_.handed_one[to], changed_.handed_one[now] + dropped - price_);
      raise(changed_.handed_all[to], changed_.handed_all[now] + dropped);
      raise(changed_.handed_two[to], std::max(changed_.handed_two[now], changed_.handed_all[now]) + dropped);
    }
  }
  for (int state = 0; state < states_; ++state) {
    raise(values[state], std::max(changed_.handed_one[ix(state)], changed_.handed_two[ix(state)]));
  }
}

/// Changes to slices that retrained, or served nobody, until then.
void JointBound::take_from_training(int boundary, const std::vector<double>& rewards, double* values) {
  if (is_soon_created_ && !rewards.empty()) {
    // Of a change in the next slot: it began to be created now, while retraining went on.
    for (int state = 0; state < states_; ++state) {
      values[state] = std::max(values[state], changed_.training[ix(state)] + rewards[ix(rooms_[ix(state)])]);
    }
  }
  if (boundary == 0 || is_created_before(boundary)) return;
  std::vector<double>& given = changed_.given;
  for (std::size_t state = 0; state < ix(states_); ++state) {
    for (int i = edges_begin_[state]; i < edges_begin_[state + 1]; ++i) {
      double& more = given[ix(edges_[ix(i)].to)];
      more = std::max(more, given[state]);
    }
  }
  for (std::size_t state = 0; state < ix(states_); ++state) {
    const bool trains = trains_beside_[ix(rooms_[state])] != 0;
    if (trains) values[state] = std::max({values[state], given[state], changed_.handed_all[state]});
  }
}

/// A change before that one, of pieces that get ready within a block.
void JointBound::change_quickly(double* values) {
  for (int state = states_ - 1; state >= 0; --state) {
    double best = may_begin_[ix(state)] != 0 ? values[state] : kWorthless;
    for (int i = quick_begin_[ix(state)]; i < quick_begin_[ix(state + 1)]; ++i) {
      const Edge& edge = quick_edges_[ix(i)];
      best = std::max(best, changed_.given[ix(edge.to)] + costs_.given[ix(edge.step)]);
    }
    changed_.given[ix(state)] = best;
    values[state] = std::max(values[state], best);
  }
  drop(values);
}

void JointBound::drop(double* values) const {
  for (int state = 0; state < states_; ++state) {
    const double value = values[state];
    for (int i = edges_begin_[ix(state)]; i < edges_begin_[ix(state + 1)]; ++i) {
      const Edge& edge = edges_[ix(i)];
      values[edge.to] = std::max(values[edge.to], value + dropped_[ix(edge.step)]);
    }
  }
}

double JointBound::loss_of_waiting(int t, int state) const {
  const int block = block_of_[ix(t)];
  if (t != begins_[ix(block)] || t == case_.problem.slots) return 0;
  const int next = begins_[ix(block + 1)];
  double waits = values_[ix(block + 1) * ix(states_) + ix(state)];
  const std::uint16_t* held = held_.data() + ix(state) * ix(services_);
  for (const Holdings& holdings : holdings_) {
    const int holding = *held++;
    const std::size_t count = ix(holdings.count());
    waits += holdings.sums[ix(next) * count + ix(holding)] - holdings.sums[ix(t) * count + ix(holding)];
    if (t >= case_.problem.floors_from && holdings.keeps_floor[ix(holding)] == 0) waits = kWorthless;
  }
  const double value = values_[ix(block) * ix(states_) + ix(state)];
  return value - waits > kNoGain * std::abs(value) ? value - waits : 0;
}

std::vector<JointBound::Target> JointBound::targets(int t, int state, double least) {
  const std::uint16_t* old = held_.data() + ix(state) * ix(services_);
  std::vector<int> locks = {0};  // slots until all is ready: nothing begins, or the slowest service that gets more
  locks.insert(locks.end(), case_.start_slots.begin(), case_.start_slots.end());
  std::ranges::sort(locks);
  const auto repeated = std::ranges::unique(locks);
  locks.erase(repeated.begin(), repeated.end());
  std::vector<double> outcomes;  // [service][holding][lock]
  std::vector<std::size_t> begin_of;
  std::vector<std::uint8_t> lock_of;  // [service][holding]
  for (int service = 0; service < services_; ++service) {
    begin_of.push_back(lock_of.size());
    add_outcomes(service, t, old[service], locks, lock_of, outcomes);
  }
  std::vector<Between> places;
  places.reserve(locks.size());
  for (const int lock : locks) places.push_back(between(std::min(t + lock, case_.problem.slots)));
  std::vector<Target> targets;
  const double* price_to = price_between_.data() + ix(rooms_[ix(state)]) * ix(case_.rooms.count());
  const std::uint16_t* held = held_.data();
  for (int to = 0; to < states_; ++to, held += services_) {
    if (may_begin_[ix(to)] == 0) continue;
    std::size_t lock = 0;
    for (std::size_t s = 0; s < begin_of.size(); ++s)
      lock = std::max<std::size_t>(lock, lock_of[begin_of[s] + held[s]]);
    const Between& place = places[lock];
    const double* row = values_.data() + ix(place.block) * ix(states_) + ix(to);
    double value = (place.share < 1 ? (1 - place.share) * row[0] : 0) - price_to[ix(rooms_[ix(to)])];
    if (place.share > 0) value += place.share * row[states_];
    for (std::size_t s = 0; s < begin_of.size(); ++s) {
      value += outcomes[(begin_of[s] + held[s]) * locks.size() + lock];
    }
    if (value > least) targets.push_back({.state = to, .value = value, .staying = staying(t, to)});
  }
  return targets;
}

double JointBound::staying(int t, int state) const {
  double value = 0;
  const std::uint16_t* held = held_.data() + ix(state) * ix(services_);
  for (const Holdings& holdings : holdings_) {
    const std::size_t holding = *held++;
    const std::size_t count = ix(holdings.count());
    value += holdings.sums[ix(case_.problem.slots) * count + holding] - holdings.sums[ix(t) * count + holding];
    value += holdings.tail[holding];
  }
  return value;
}

/// What a service gets in a change at slot t until the lock ends, by holding and lock, less what the rest counts again.
void JointBound::add_outcomes(int service, int t, int old, const std::vector<int>& locks,
                              std::vector<std::uint8_t>& lock_of, std::vector<double>& outcomes) {
  Holdings& holdings = holdings_[ix(service)];
  const std::size_t count = ix(holdings.count());
  const int slots = case_.problem.slots;
  const auto sum = [&](int slot) { return holdings.sums.data() + ix(std::min(slot, slots)) * count; };
  const std::vector<int>& common = common_with(holdings, old);
  const int start = case_.start_slots[ix(service)];
  const auto own = std::ranges::lower_bound(locks, start) - locks.begin();
  for (std::size_t to = 0; to < count; ++to) {
    const std::size_t kept = ix(common[to]);
    lock_of.push_back(kept == to ? 0 : static_cast<std::uint8_t>(own));
    for (const int lock : locks) {
      const int end = std::min(t + lock, slots);
      const int ready = kept == to ? t : std::min(t + std::min(start, lock), slots);
      const Between place = between(end);
      const double counted = sum(place.begin)[to];
      outcomes.push_back((sum(ready)[kept] - sum(t)[kept]) + (sum(end)[to] - sum(ready)[to]) -
                         (sum(end)[to] - counted) + place.share * (sum(place.end)[to] - counted));
    }
  }
}

/// [holding], what another one has in common with it.
const std::vector<int>& JointBound::common_with(Holdings& holdings, int old) {
  std::vector<int>& common = holdings.common[ix(old)];
  if (!common.empty()) return common;
  std::vector<std::uint8_t> counts;
  common.reserve(ix(holdings.count()));
  for (int other = 0; other < holdings.count(); ++other) {
    counts = holdings.counts[ix(other)];
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = std::min(counts[i], holdings.counts[ix(old)][i]);
    common.push_back(holdings.of_counts.find(counts)->second);
  }
  return common;
}

const std::vector<int>& JointBound::bundles_of(int state, int service) const {
  const Holdings& holdings = holdings_[ix(service)];
  return holdings.bundles[held_[ix(state) * ix(services_) + ix(service)]];
}

/// A change within a block is counted between its boundaries, so a later begin of the block counts in proportion.
JointBound::Between JointBound::between(int t) const {
  const int block = block_of_[ix(t)];
  const int begin = begins_[ix(block)];
  if (t == begin) return {.block = block, .begin = begin, .end = begin, .share = 0};
  const int end = begins_[ix(block + 1)];
  const double share = can_change_[ix(block)] != 0 ? static_cast<double>(t - begin) / (end - begin) : 1;
  return {.block = block, .begin = begin, .end = end, .share = share};
}

double JointBound::from(int t, int state) const {
  const Between place = between(t);
  const double* row = values_.data() + ix(place.block) * ix(states_) + ix(state);
  if (place.share <= 0) return *row;
  double before = 0;
  double block = 0;
  const std::uint16_t* held = held_.data() + ix(state) * ix(services_);
  for (const Holdings& holdings : holdings_) {
    const double* sums = holdings.sums.data() + *held++;
    const std::size_t count = ix(holdings.count());
    const double begin = sums[ix(place.begin) * count];
    before += sums[ix(t) * count] - begin;
    block += sums[ix(place.end) * count] - begin;
  }
  const double waits = block + row[states_];
  return (place.share < 1 ? (1 - place.share) * *row + place.share * waits : waits) - before;
}

double JointBound::from(int t, int state, const std::vector<ModelState>& models) const {
  if (is_always_fresh()) return from(t, state);
  const std::size_t count = ix(states_);
  const double* values = values_.data() + ix(block_of_[ix(t)]) * count * ix(phases_) + ix(state);
  double best = kWorthless;
  for (int phases = 0; phases < phases_; ++phases) {
    double value = values[ix(phases) * count];
    for (const int service : stale_services_) {
      if (value == kWorthless) break;
      const int phase = phase_of(phases, service);
      const ModelState& model = models[ix(service)];
      const bool fits = model.is_open() ? phase != kFresh : phase == kFresh;
      const bool gets_done = phase != kTraining || prices_->service(service).may_get_done(t, model.progress);
      value = fits && gets_done ? value + price_in(t, phase, service) * model.progress : kWorthless;
    }
    best = std::max(best, value);
  }
  return best;
}

}  // namespace berth::planner
