#include "planner/one_gpu/detail/joint_costs.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::planner {

JointCosts::JointCosts(const GpuCase& gpu_case, const JointStates& states, const JointWorth& worth,
                       const JointPhases& phases)
    : case_(gpu_case), states_(states), worth_(worth), phases_(phases) {
  const Problem& problem = gpu_case.problem;
  double least = problem.create_seconds;
  double most = least;
  if (!gpu_case.model.create_seconds.empty()) {
    const auto [shortest, longest] = std::ranges::minmax(gpu_case.model.create_seconds);
    least = shortest;
    most = longest;
  }
  for (const ServiceTerms& terms : problem.services) {
    const double start = problem.plumbing_seconds + terms.start_seconds;
    created_slots_.push_back(slots_of_seconds(start + least));
    created_slots_most_.push_back(slots_of_seconds(start + most));
  }
  const std::size_t additions = states.additions().size();
  for (Costs* costs : {&costs_at_[0], &costs_at_[1], &costs_}) {
    for (std::vector<double>* each : {&costs->given, &costs->created, &costs->dropped}) each->resize(additions);
  }
  for (Excess* excess : {&excess_, &excess_before_}) {
    for (std::vector<double>* each : {&excess->given, &excess->created, &excess->dropped}) each->resize(additions);
  }
}

void JointCosts::start(const JointBlocks& blocks, const std::vector<BundleIndex>& standing_bundles) {
  blocks_ = &blocks;
  boundary_ = blocks.end() + 1;
  find_free_kinds(standing_bundles);
  find_price();
  is_soon_created_ = find_soon_created();
  make_excess(blocks.end(), excess_before_);
}

void JointCosts::go_to(BlockIndex boundary) {
  ENSURE(blocks_ != nullptr && boundary == boundary_ - 1);
  boundary_ = boundary;
  std::swap(excess_, excess_before_);
  make_excess(boundary - 1, excess_before_);
  if (blocks_->can_change_at(boundary)) make_costs();
}

/// Kinds with a standing piece that does not serve: a service that takes it over need not create one.
void JointCosts::find_free_kinds(const std::vector<BundleIndex>& standing_bundles) {
  std::vector<int> left(ix(case_.rooms.kinds()));
  for (const StandingPiece& standing : case_.gpu.standing) ++left[case_.model.sites[standing.piece.site].kind];
  for (const ServiceIndex service : indices_of<ServiceIndex>(standing_bundles)) {
    const Bundles& bundles = case_.bundles[service];
    for (const ItemIndex item : indices_of<ItemIndex>(bundles.items)) {
      left[bundles.items[item].kind] -= bundles.count_of(standing_bundles[service], item);
    }
  }
  is_free_.clear();
  for (const int count : left) is_free_.push_back(count > 0 ? 1 : 0);
}

/// A slice that no longer serves is destroyed, unless a retraining could use it.
void JointCosts::find_price() {
  const Rooms& rooms = case_.rooms;
  price_ = case_.problem.change_price;
  for (const ServiceIndex service : indices_of<ServiceIndex>(created_slots_)) {
    for (const KindIndex kind : Indices<KindIndex>(rooms.kinds())) {
      if (case_.progress_rate(service, kind) > 0) price_ = 0;
    }
  }
  price_between_.assign(ix(rooms.count()) * ix(rooms.count()), 0);
  for (RoomIndex from(0); from < rooms.count() && price_ > 0; ++from) {
    for (const RoomIndex to : Indices<RoomIndex>(rooms.count())) {
      double& price = price_between_[ix(from) * ix(rooms.count()) + ix(to)];
      for (const KindIndex kind : Indices<KindIndex>(rooms.kinds())) {
        const int more = rooms.count_of(to, kind) - rooms.count_of(from, kind);
        if (more < 0 || is_free_[kind] == 0) price += price_ * std::abs(more);
      }
    }
  }
}

bool JointCosts::find_soon_created() const {
  if (price_ > 0 || phases_.is_always_fresh()) return false;
  const std::vector<ServiceTerms>& services = case_.problem.services;
  for (const ServiceIndex service : indices_of<ServiceIndex>(services)) {
    if (created_slots_most_[service] > case_.start_slots[service] + 1) return false;
    if (services.size() > 1 && !may_be_neighbours(services.front(), services[service])) return false;
  }
  return true;
}

/// Whether a service that takes over a slice that does not serve could have created it one slot earlier.
bool JointCosts::is_created_before() const { return is_soon_created_ && blocks_->can_change(boundary_ - 1); }

/// Which take-overs are allowed at the boundary: at the first one the standing pieces that do not serve are known.
JointChanges::Takeover JointCosts::takeover() const {
  const bool retrains = !phases_.is_always_fresh();
  return {.while_training = retrains && is_soon_created_ && boundary_ < blocks_->end(),
          .at_once = retrains && boundary_ > 0 && !is_created_before()};
}

void JointCosts::make_excess(BlockIndex block, Excess& excess) const {
  for (std::vector<double>* most : {&excess.given, &excess.created, &excess.dropped}) std::ranges::fill(*most, 0);
  if (!blocks_->can_change(block)) return;
  for (const ServiceIndex service : indices_of<ServiceIndex>(created_slots_)) {
    bend(service, block, 0, 1, excess.dropped);
    bend(service, block, case_.start_slots[service], -1, excess.given);
    bend(service, block, created_slots_[service], -1, excess.created);
  }
}

/// The most by which the sum of margins, from the begin of a block on, is above the straight line (sign 1) or below it
/// (sign -1).
void JointCosts::bend(ServiceIndex service, BlockIndex block, int delay, double sign, std::vector<double>& most) const {
  const SlotIndex from = blocks_->begin_of(block);
  const SlotIndex end = blocks_->end_of(block);
  const double* first = worth_.margins(from + delay);
  const double* last = worth_.margins(end + delay);
  const std::size_t additions_end = ix(states_.additions_begin(service + 1));
  for (SlotIndex t = from + 1; t < end; ++t) {
    const double* now = worth_.margins(t + delay);
    const double share = static_cast<double>(t - from) / (end - from);
    for (std::size_t i = ix(states_.additions_begin(service)); i < additions_end; ++i) {
      const double more = sign * ((now[i] - first[i]) - share * (last[i] - first[i]));
      most[i] = std::max(most[i], more);
    }
  }
}

void JointCosts::make_costs() {
  const bool may_take = !is_created_before();
  const std::vector<JointStates::Addition>& additions = states_.additions();
  for (const ServiceIndex service : indices_of<ServiceIndex>(created_slots_)) {
    for (const bool is_fresh : {false, true}) set_costs(service, is_fresh, costs_at_[is_fresh ? 1 : 0]);
  }
  for (Costs& costs : costs_at_) {
    for (std::size_t i = 0; i < additions.size(); ++i) {
      costs.given[i] += std::max(excess_.given[i], excess_before_.given[i]);
      costs.created[i] += std::max(excess_.created[i], excess_before_.created[i]) - price_;
      if (may_take && is_free_[additions[i].kind] != 0) costs.created[i] = costs.given[i];
    }
  }
  costs_.price = price_;
  for (std::size_t i = 0; i < additions.size(); ++i) {
    costs_.dropped[i] = std::max(excess_.dropped[i], excess_before_.dropped[i]);
  }
}

/// The loss of additional pieces of a service until they are ready. A fresh model is fresh until its next due slot; for
/// other models the freshness is unknown.
void JointCosts::set_costs(ServiceIndex service, bool is_fresh, Costs& costs) const {
  const SlotIndex from = blocks_->begin_of(boundary_);
  const bool is_known = is_fresh && !phases_.is_always_fresh();
  const FreshSlots fresh{.from = from, .fresh_until = is_known ? next_due(service, from) : from};
  set_delayed(service, fresh, case_.start_slots[service], costs.given);
  set_delayed(service, fresh, created_slots_[service], costs.created);
}

void JointCosts::set_delayed(ServiceIndex service, const FreshSlots& fresh, int delay,
                             std::vector<double>& costs) const {
  const SlotIndex end = fresh.from + delay;
  const SlotIndex until = std::min(fresh.fresh_until, end);
  const bool is_fresh = until > fresh.from;
  const double* from = is_fresh ? worth_.fresh_margins(fresh.from) : worth_.margins(fresh.from);
  const double* due = is_fresh ? worth_.fresh_margins(until) : worth_.margins(until);
  const double* after_due = worth_.margins(until);
  const double* ready = worth_.margins(end);
  const std::size_t additions_end = ix(states_.additions_begin(service + 1));
  for (std::size_t i = ix(states_.additions_begin(service)); i < additions_end; ++i) {
    costs[i] = (from[i] - due[i]) + (after_due[i] - ready[i]);
  }
}

/// The first slot after `slot` in which a retraining is due; the end of the window if there is none.
SlotIndex JointCosts::next_due(ServiceIndex service, SlotIndex slot) const {
  const std::optional<RetrainingTerms>& terms = case_.problem.services[service].retraining;
  if (!terms) return case_.end();
  const auto next = std::ranges::upper_bound(terms->due_slots, slot);
  return next == terms->due_slots.end() ? case_.end() : *next;
}

const JointCosts::Costs& JointCosts::of(PhasesIndex phases) {
  ENSURE(blocks_ != nullptr && blocks_->can_change_at(boundary_));
  for (const ServiceIndex service : indices_of<ServiceIndex>(created_slots_)) {
    const Costs& costs = costs_at_[phases_.of(phases, service) == kFresh ? 1 : 0];
    const auto first = static_cast<std::ptrdiff_t>(states_.additions_begin(service));
    const auto last = static_cast<std::ptrdiff_t>(states_.additions_begin(service + 1));
    std::copy(costs.given.begin() + first, costs.given.begin() + last, costs_.given.begin() + first);
    std::copy(costs.created.begin() + first, costs.created.begin() + last, costs_.created.begin() + first);
  }
  return costs_;
}

}  // namespace berth::planner
