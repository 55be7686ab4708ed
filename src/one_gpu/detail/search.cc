#include "one_gpu/detail/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace berth::planner {
namespace {

/// Values that differ by less, relatively, count as equal.
constexpr double kEqualValues = 1e-11;

const Piece* standing_on(const Configuration& pieces, SiteIndex site) {
  for (const Piece& piece : pieces) {
    if (piece.site == site) return &piece;
  }
  return nullptr;
}

constexpr int kPolishRounds = 8;
/// Of the bound: a dive waits where that costs no more.
constexpr double kWaits = 3e-5;
/// States that are gone through at the cost of a node.
constexpr int kStatesOfNode = 1000;
constexpr double kOpen = std::numeric_limits<double>::quiet_NaN();

/// As the contract says; the checker has its own.
int slots_to_begin(const GpuCase& gpu_case, const Configuration& from, const Piece& piece) {
  const Piece* before = standing_on(from, piece.site);
  if (before != nullptr && *before == piece) return 0;
  const Problem& problem = gpu_case.problem;
  double seconds = problem.plumbing_seconds;
  if (piece.use != kRetraining) seconds += problem.services[piece.service].start_seconds;
  if (before == nullptr) {
    seconds += problem.create_seconds;
    const std::uint64_t clashes = gpu_case.model.sites[piece.site].clashes;
    for (const Piece& old : from) {
      if ((clashes >> old.site & 1) == 0) continue;
      seconds += problem.destroy_seconds;
      break;
    }
  }
  return slots_of_seconds(seconds);
}

}  // namespace

OneGpuSearch::OneGpuSearch(const GpuCase& gpu_case) : case_(gpu_case), arrangements_(gpu_case) {
  for (const ServiceTerms& terms : gpu_case.problem.services) {
    state_index_.push_back(terms.retraining ? states_count_++ : -1);
    budget_index_.push_back(terms.changes_max >= 0 ? budgets_count_++ : -1);
    bool helps = true;
    for (const VariantTerms& variant : terms.variants)
      helps = helps && variant.accuracy_after >= variant.accuracy_before;
    after_helps_.push_back(helps ? 1 : 0);
  }
  arrivals_.resize(ix(gpu_case.problem.slots + 1));
  const Problem& problem = gpu_case.problem;
  const auto create_matters = [&](double start) {
    return slots_of_seconds(problem.plumbing_seconds + start + problem.create_seconds) >
           slots_of_seconds(problem.plumbing_seconds + start);
  };
  create_matters_ = create_matters(0);
  for (const ServiceTerms& terms : problem.services) {
    create_matters_ = create_matters_ || create_matters(terms.start_seconds);
  }
  make_root();
}

/// What stands, until the first slot in which something may change.
void OneGpuSearch::make_root() {
  Configuration pieces;
  std::vector<SlotIndex> ready;
  for (const StandingPiece& standing : case_.gpu.standing) {
    pieces.push_back(standing.piece);
    ready.emplace_back(standing.ready_in);
  }
  root_.arrangement = arrangements_.number_of(pieces);
  for (const ServiceTerms& terms : case_.problem.services) {
    if (!terms.retraining) continue;
    ModelState state = first_state(*terms.retraining);
    enter_slot(*terms.retraining, SlotIndex(0), state);
    states_.push_back(state);
  }
  used_.assign(ix(budgets_count_), 0);
  Label child;
  child.states = states_.size();
  const Arrangement& standing = arrangements_[root_.arrangement];
  const double value = run_services(root_, standing, SlotIndex(0), case_.first_slot, ready, child);
  std::copy(states_.begin() + static_cast<std::ptrdiff_t>(child.states), states_.end(), states_.begin());
  states_.resize(ix(states_count_));
  root_.value = value;
  const bool waits = case_.first_slot > 0;
  if (waits && (!standing.can_stand || (case_.first_slot > case_.problem.floors_from && !standing.keeps_floors))) {
    root_.value = kNever;
  }
}

std::vector<ServiceStart> OneGpuSearch::starts() const {
  std::vector<ServiceStart> starts;
  for (const ServiceIndex service : indices_of<ServiceIndex>(state_index_)) {
    starts.push_back({.bundle = share_of(root_, service).bundle, .state = state_of(root_, service)});
  }
  return starts;
}

ModelState OneGpuSearch::state_of(const Label& label, ServiceIndex service) const {
  const int index = state_index_[service];
  return index < 0 ? ModelState{} : states_[label.states + ix(index)];
}

Share OneGpuSearch::share_of(const Label& label, ServiceIndex service) const {
  return arrangements_[label.arrangement].shares[service];
}

/// Whether nothing becomes due, done or fresh in (from, to].
bool OneGpuSearch::is_quiet(const RetrainingTerms& terms, const ModelState& state, double progress_rate, SlotIndex from,
                            SlotIndex to) {
  if (state.is_done) return false;
  if (state.is_stale && state.progress + (to - from) * progress_rate >= kDone - 1e-6) return false;
  const auto due = std::ranges::upper_bound(terms.due_slots, from);
  return due == terms.due_slots.end() || *due > to;
}

/// Value of a service in [from, to), and its state at the beginning of `to`.
double OneGpuSearch::advance(ServiceIndex service, BundleIndex bundle, double progress_rate, SlotIndex from,
                             SlotIndex to, ModelState& state) const {
  const ServiceTerms& terms = case_.problem.services[service];
  const Served& served = case_.served[service];
  const LevelIndex level = case_.bundles[service].level[bundle];
  if (!terms.retraining) return served.value(level, true, from, to);
  if (terms.outside_progress.empty() && is_quiet(*terms.retraining, state, progress_rate, from, to)) {
    if (state.is_stale) state.progress += (to - from) * progress_rate;
    return served.value(level, !state.is_stale, from, to);
  }
  double value = 0;
  for (SlotIndex t = from; t < to; ++t) {
    value += served.value(level, !state.is_stale, t, t + 1);
    if (state.is_open()) {
      const double outside = terms.outside_progress.empty() ? 0 : terms.outside_progress[t];
      state.progress += outside + progress_rate;
    }
    enter_slot(*terms.retraining, t + 1, state);
  }
  return value;
}

double OneGpuSearch::cutoff() const {
  return has_schedule() ? best_value_ + std::max(kEqualValues, gap_) * std::abs(best_value_) : best_value_;
}

/// Whether slices serve nobody, but for what stands at first in the first slot: the bound knows of that.
bool OneGpuSearch::has_spare(const Label& label, SlotIndex t) const {
  return arrangements_[label.arrangement].has_spare && (label.parent >= 0 || t > case_.first_slot);
}

/// `may_take`: slices that serve nobody may still be taken over at t.
double OneGpuSearch::bound_of(const Label& label, SlotIndex t, bool may_take) const {
  if (joint_ == nullptr) return bound_by_prices(label, t);
  const StateIndex state = joint_states_[label.arrangement];
  if (joint_->is_always_fresh()) return label.value + joint_->from(t, state);
  const double alone = bound_by_prices(label, t);
  if (!(alone > cutoff())) return alone;
  std::vector<ModelState> models;
  models.reserve(state_index_.size());
  for (const ServiceIndex service : indices_of<ServiceIndex>(state_index_)) models.push_back(state_of(label, service));
  return std::min(alone, label.value + joint_->from(t, state, models, may_take && has_spare(label, t)));
}

double OneGpuSearch::bound_by_prices(const Label& label, SlotIndex t) const {
  double bound = label.value + bound_->income(t);
  for (const ServiceIndex service : indices_of<ServiceIndex>(state_index_)) {
    bound += bound_->from(service, t, share_of(label, service).bundle, state_of(label, service));
  }
  return bound;
}

void OneGpuSearch::clear(const PassLimits& limits) {
  limits_ = limits;
  labels_.clear();
  states_.resize(ix(states_count_));
  used_.resize(ix(budgets_count_));
  for (std::vector<LabelIndex>& arrivals : arrivals_) arrivals.clear();
  left_out_ = kNever;
  nodes_end_ = nodes_ + limits.nodes_max;
}

void OneGpuSearch::start_pass(const PassLimits& limits) {
  clear(limits);
  note_joint_state(root_.arrangement);
  known_.resize(state_index_.size());
  for (const ServiceIndex service : indices_of<ServiceIndex>(state_index_)) {
    known_[service].of_bundle.assign(ix(case_.bundles[service].count()), {});
  }
  labels_.push_back(root_);
  labels_.front().bound = std::numeric_limits<double>::infinity();
  // The root's own states are not to be changed by holding on.
  labels_.front().states = states_.size();
  for (int i = 0; i < states_count_; ++i) states_.push_back(states_[i]);
  arrivals_[case_.first_slot].emplace_back(0);
}

void OneGpuSearch::pass(const PassLimits& limits) {
  if (root_.value == kNever) return;
  start_pass(limits);
  std::vector<LabelIndex> alive;
  for (SlotIndex t = case_.first_slot; t < case_.problem.slots; ++t) {
    alive.insert(alive.end(), arrivals_[t].begin(), arrivals_[t].end());
    select(alive, t);
    arrived_now_.clear();
    for (const LabelIndex label : alive) {
      if (begins_changes(t)) {
        expand(label, t);
      } else if (case_.can_change(t)) {
        leave_out(labels_[label].bound);
      }
    }
    if (!arrived_now_.empty()) {
      alive.insert(alive.end(), arrived_now_.begin(), arrived_now_.end());
      select(alive, t);
    }
    hold(alive, t);
  }
  // Only a root that may not change at all arrives there.
  alive.insert(alive.end(), arrivals_.back().begin(), arrivals_.back().end());
  for (const LabelIndex label : alive) finish(labels_[label], label, nullptr);
}

/// One way through the window: whenever the joint bound would change, the change that keeps most of it is made, where
/// that is no more than `patience` of the bound below what waiting keeps.
void OneGpuSearch::dive(double patience, const PassLimits& limits) {
  if (root_.value == kNever) return;
  start_pass(limits);
  LabelIndex number(0);
  for (SlotIndex t = case_.first_slot; t < case_.problem.slots;) {
    labels_[number].bound = bound_of(labels_[number], t, true);
    if (!(labels_[number].bound > cutoff())) return;
    const LabelIndex child = case_.can_change(t) ? best_child(number, t, patience) : kNoLabelIndex;
    if (child >= 0) {
      number = child;
      t = labels_[child].ready;
      if (t > labels_[child].begin) continue;
    }
    std::vector<LabelIndex> one = {number};
    hold(one, t);
    ++t;
    if (one.empty()) return;
  }
  finish(labels_[number], number, nullptr);
}

/// The child that a dive goes on with; -1: it waits.
LabelIndex OneGpuSearch::best_child(LabelIndex number, SlotIndex t, double patience) {
  const StateIndex state = joint_states_[labels_[number].arrangement];
  const double loss = joint_->loss_of_waiting(t, state);
  const double bound = labels_[number].bound;
  if (!(loss > kWaits * std::abs(bound))) return kNoLabelIndex;
  const std::size_t first = labels_.size();
  expand(number, t);
  double least = bound - loss;
  for (std::size_t i = first; i < labels_.size(); ++i) least = std::max(least, labels_[i].bound);
  least -= patience * std::abs(bound);
  LabelIndex best = kNoLabelIndex;
  double most = kNever;
  for (std::size_t i = first; i < labels_.size(); ++i) {
    if (labels_[i].bound < least) continue;
    const double value = value_of_staying(labels_[i], labels_[i].ready);
    if (value > most) best = LabelIndex(i);
    most = std::max(most, value);
  }
  return best;
}

bool OneGpuSearch::begins_changes(SlotIndex t) const {
  if (!case_.can_change(t)) return false;
  if ((t - case_.first_slot) % limits_.stride == 0) return true;
  const auto is_due = [&](const ServiceTerms& terms) {
    return terms.retraining && std::ranges::binary_search(terms.retraining->due_slots, t);
  };
  return std::ranges::any_of(case_.problem.services, is_due);
}

/// Of a schedule whose configurations may begin; kNever where it is not allowed.
double OneGpuSearch::value_of(const std::vector<Change>& changes) {
  Label label = root_;
  const std::size_t states = states_.size();
  const std::size_t used = used_.size();
  SlotIndex t = case_.first_slot;
  const auto value_until = [&](SlotIndex end) {
    const Arrangement& standing = arrangements_[label.arrangement];
    const bool binds = end > t && end > case_.problem.floors_from;
    if ((end > t && !standing.can_stand) || (binds && !standing.keeps_floors)) return kNever;
    const std::vector<SlotIndex> ready(standing.pieces.size(), t);
    Label next = label;
    next.states = states_.size();
    next.value += run_services(label, standing, t, end, ready, next);
    label = next;
    t = end;
    return label.value;
  };
  double value = label.value;
  SlotIndex last(-1);
  for (const Change& change : changes) {
    if (value == kNever) break;
    const bool fits = change.slot >= t && change.slot > last && case_.can_change(change.slot);
    const ArrangementIndex number = arrangements_.number_of(change.to);
    value = fits && number != label.arrangement ? value_until(change.slot) : kNever;
    if (value == kNever) break;
    const Begin begin = begin_of(arrangements_[label.arrangement].pieces, change.to, t);
    Label child{
        .arrangement = number, .parent = kNoLabelIndex, .begin = t, .states = states_.size(), .used = used_.size()};
    const bool breaks_floor = begin.end > case_.problem.floors_from && !arrangements_[number].keeps_floors;
    if (breaks_floor || !use_budgets(label, change.to, child)) value = kNever;
    if (value == kNever) break;
    child.states = states_.size();
    child.value = label.value - price_of(arrangements_[label.arrangement].pieces, change.to) +
                  run_services(label, arrangements_[number], t, begin.end, begin.ready, child);
    last = change.slot;
    t = begin.end;
    label = child;
  }
  if (value != kNever) value = value_until(case_.end());
  if (value != kNever) value += tail_of(label);
  states_.resize(states);
  used_.resize(used);
  return value;
}

bool OneGpuSearch::offer(const std::vector<Change>& changes) {
  ++nodes_;
  const double value = value_of(changes);
  const double least = has_schedule() ? best_value_ + kEqualValues * std::abs(best_value_) : best_value_;
  if (!(value > least)) return false;
  best_value_ = value;
  best_changes_ = changes;
  return true;
}

void OneGpuSearch::polish() {
  if (!has_schedule()) return;
  for (int round = 0; round < kPolishRounds; ++round) {
    bool is_better = false;
    for (std::size_t i = 0; i < best_changes_.size(); ++i) {
      for (const int shift : {16, -16, 8, -8, 4, -4, 2, -2, 1, -1}) {
        if (i >= best_changes_.size()) break;
        std::vector<Change> changes = best_changes_;
        changes[i].slot += shift;
        if (changes[i].slot < case_.first_slot || changes[i].slot >= case_.problem.slots) continue;
        is_better = offer(changes) || is_better;
      }
      if (i >= best_changes_.size()) break;
      std::vector<Change> changes = best_changes_;
      changes.erase(changes.begin() + static_cast<std::ptrdiff_t>(i));
      is_better = offer(changes) || is_better;
    }
    if (!is_better) break;
  }
}

/// Drops labels that cannot be better than the best known, those that others cover, and those that are too many.
void OneGpuSearch::select(std::vector<LabelIndex>& labels, SlotIndex t) {
  std::erase_if(labels, [&](LabelIndex label) {
    double& bound = labels_[label].bound;
    bound = std::min(bound, bound_of(labels_[label], t, true));
    return !(bound > cutoff());
  });
  nodes_ += static_cast<std::int64_t>(labels.size());
  std::ranges::sort(labels, [&](LabelIndex a, LabelIndex b) {
    const AlikeIndex alike_a = arrangements_[labels_[a].arrangement].alike;
    const AlikeIndex alike_b = arrangements_[labels_[b].arrangement].alike;
    if (alike_a != alike_b) return alike_a < alike_b;
    if (labels_[a].value != labels_[b].value) return labels_[a].value > labels_[b].value;
    return a < b;
  });
  std::vector<LabelIndex> kept;
  kept.reserve(labels.size());
  std::size_t group = 0;
  for (const LabelIndex label : labels) {
    const auto alike = [&](LabelIndex number) { return arrangements_[labels_[number].arrangement].alike; };
    if (!kept.empty() && alike(kept[group]) != alike(label)) group = kept.size();
    bool is_covered = false;
    for (std::size_t i = group; i < kept.size() && !is_covered; ++i) {
      is_covered = covers(labels_[kept[i]], labels_[label], t);
    }
    if (is_covered) continue;
    if (kept.empty()) group = 0;
    kept.push_back(label);
  }
  labels = std::move(kept);
  if (labels.size() > ix(limits_.width)) keep_most_promising(labels, t);
}

/// Those with the largest bounds, and those that are worth most if they never change again: a bound alone prefers what
/// has not met the costs of its changes yet.
void OneGpuSearch::keep_most_promising(std::vector<LabelIndex>& labels, SlotIndex t) {
  const auto by_bound = [&](LabelIndex a, LabelIndex b) {
    return labels_[a].bound != labels_[b].bound ? labels_[a].bound > labels_[b].bound : a < b;
  };
  std::ranges::sort(labels, by_bound);
  const std::size_t first = ix(limits_.width) / 2;
  const std::size_t others = ix(limits_.width) - first;
  std::vector<std::pair<double, LabelIndex>> staying;
  staying.reserve(labels.size() - first);
  for (std::size_t i = first; i < labels.size(); ++i) {
    staying.emplace_back(-value_of_staying(labels_[labels[i]], t), labels[i]);
  }
  std::ranges::sort(staying);
  labels.resize(first);
  for (std::size_t i = 0; i < staying.size(); ++i) {
    if (i < others) {
      labels.push_back(staying[i].second);
    } else {
      leave_out(labels_[staying[i].second].bound);
    }
  }
  std::ranges::sort(labels, by_bound);
}

/// What a label is worth about if what stands stays, and the models stay as they are.
double OneGpuSearch::value_of_staying(const Label& label, SlotIndex t) const {
  double value = label.value;
  for (const ServiceIndex service : indices_of<ServiceIndex>(state_index_)) {
    const Served& served = case_.served[service];
    const LevelIndex level = case_.bundles[service].level[share_of(label, service).bundle];
    const bool is_fresh = !state_of(label, service).is_stale;
    value += served.value(level, is_fresh, t, case_.end()) + served.tail(level, is_fresh);
  }
  return value;
}

/// How much more a label must be worth already to be no worse than another with a different state of a service;
/// nothing where that cannot be said.
std::optional<double> OneGpuSearch::lead_needed(const ModelState& a, const ModelState& b, ServiceIndex service,
                                                SlotIndex t) const {
  if (a == b) return 0;
  const RetrainingTerms& terms = *case_.problem.services[service].retraining;
  if (after_helps_[service] == 0) return std::nullopt;
  const bool is_due_later = !terms.due_slots.empty() && terms.due_slots.back() > t;
  // At a due slot unfinished progress is worth more than a fresh model where it is kept.
  if (is_due_later && terms.keeps_unfinished) return std::nullopt;
  const double lead = is_due_later ? 0 : std::max(0.0, terms.progress_value);
  if (!a.is_stale) return lead;
  if (a.is_done) {
    if (b.is_open() || (b.is_done && b.fresh_from >= a.fresh_from)) return lead;
    return std::nullopt;
  }
  if (b.is_open() && a.progress >= b.progress) return lead;
  return std::nullopt;
}

bool OneGpuSearch::covers(const Label& a, const Label& b, SlotIndex t) const {
  double lead = a.value - b.value;
  for (const ServiceIndex service : indices_of<ServiceIndex>(state_index_)) {
    if (state_index_[service] >= 0) {
      const std::optional<double> needed = lead_needed(state_of(a, service), state_of(b, service), service, t);
      if (!needed) return false;
      lead -= *needed;
    }
    const int budget = budget_index_[service];
    if (budget >= 0 && used_[a.used + ix(budget)] > used_[b.used + ix(budget)]) return false;
  }
  return lead >= 0;
}

/// One slot further with what stands.
void OneGpuSearch::hold(std::vector<LabelIndex>& labels, SlotIndex t) {
  std::erase_if(labels, [&](LabelIndex number) {
    const Arrangement& arrangement = arrangements_[labels_[number].arrangement];
    return !arrangement.can_stand || (t >= case_.problem.floors_from && !arrangement.keeps_floors);
  });
  for (const LabelIndex number : labels) {
    Label& label = labels_[number];
    const Arrangement& arrangement = arrangements_[label.arrangement];
    if (joint_ != nullptr && has_spare(label, t)) label.bound = std::min(label.bound, bound_of(label, t, false));
    for (const ServiceIndex service : indices_of<ServiceIndex>(state_index_)) {
      const int index = state_index_[service];
      ModelState none;
      ModelState& state = index < 0 ? none : states_[label.states + ix(index)];
      label.value +=
          advance(service, arrangement.shares[service].bundle, arrangement.progress_rates[service], t, t + 1, state);
    }
  }
}

void OneGpuSearch::expand_from_pool(LabelIndex label, SlotIndex t) {
  const double bound = labels_[label].bound;
  leave_out(bound);
  Draft draft;
  draft.label = label;
  draft.slot = t;
  draft.bound = bound;
  const double alone = bound_ != nullptr ? bound_by_prices(labels_[label], t) : bound;
  for (const std::vector<Share>& shares : pool_) {
    double left = alone - cutoff();
    for (ServiceIndex service(0); bound_ != nullptr && ix(service) < shares.size() && left > 0; ++service) {
      const Share share = share_of(labels_[label], service);
      if (shares[service] == share) continue;
      const Label& now = labels_[label];
      left -= bound_->from(service, t, share.bundle, state_of(now, service)) -
              option_value(now, service, shares[service], t);
    }
    ++nodes_;
    if (left <= 0) continue;
    const Arrangement& from = arrangements_[labels_[label].arrangement];
    const double best = deal_bound(label, t, shares, arrangements_.most_kept(from, shares));
    if (best > cutoff()) try_placings(draft, {.loss = bound - best, .shares = shares});
  }
}

/// Half of those that stay have the largest bounds, the others are worth most without another change; what is left out
/// is worth no more than the result. By bound, largest first.
double OneGpuSearch::keep_best_targets(std::vector<JointBound::Target>& targets, std::size_t most) {
  const auto by_bound = [](const JointBound::Target& a, const JointBound::Target& b) {
    return a.value != b.value ? a.value > b.value : a.state < b.state;
  };
  const auto by_staying = [](const JointBound::Target& a, const JointBound::Target& b) {
    return a.staying != b.staying ? a.staying > b.staying : a.state < b.state;
  };
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

/// The states of the joint bound by what a change to them is worth at most.
void OneGpuSearch::expand_jointly(LabelIndex label, SlotIndex t) {
  const double bound = labels_[label].bound;
  const StateIndex state = joint_states_[labels_[label].arrangement];
  nodes_ += 1 + joint_->states() / kStatesOfNode;
  const double before = labels_[label].value;
  std::vector<JointBound::Target> targets = joint_->targets(t, state, cutoff() - before);
  const double left = keep_best_targets(targets, ix(limits_.changes_max));
  leave_out(before + left);
  Draft draft;
  draft.label = label;
  draft.slot = t;
  draft.bound = bound;
  draft.slack = bound - cutoff();
  draft.shares.resize(state_index_.size());
  for (const JointBound::Target& target : targets) {
    if (before + target.value <= bound - draft.slack) break;
    add_deals(draft, target.state, ServiceIndex(0));
  }
  try_deals(draft);
}

void OneGpuSearch::try_deals(Draft& draft) {
  if (draft.is_cut) leave_out(std::min(draft.bound - draft.slack, labels_[draft.label].bound));
  std::ranges::sort_heap(draft.deals, smaller_loss);
  for (const Deal& deal : draft.deals) {
    if (draft.bound - deal.loss > cutoff()) try_placings(draft, deal);
  }
}

/// All shares that count as a state, those of the services before `service` being chosen.
void OneGpuSearch::add_deals(Draft& draft, StateIndex state, ServiceIndex service) {
  const Label& label = labels_[draft.label];
  const Arrangement& from = arrangements_[label.arrangement];
  if (ix(service) < draft.shares.size()) {
    for (const BundleIndex bundle : joint_->bundles_of(state, service)) {
      if (nodes_ >= nodes_end_) return give_up(draft);
      draft.shares[service].bundle = bundle;
      add_deals(draft, state, service + 1);
    }
    return;
  }
  if (draft.shares == from.shares) return;
  ++nodes_;
  const double loss =
      draft.bound - deal_bound(draft.label, draft.slot, draft.shares, arrangements_.most_kept(from, draft.shares));
  if (loss < draft.slack) add_deal(draft, loss);
}

void OneGpuSearch::note_joint_state(ArrangementIndex arrangement) {
  if (joint_ == nullptr) return;
  if (joint_states_.size() <= ix(arrangement)) joint_states_.resize(ix(arrangement) + 1, StateIndex(-1));
  StateIndex& state = joint_states_[arrangement];
  if (state >= 0) return;
  std::vector<BundleIndex> bundles;
  bundles.reserve(state_index_.size());
  for (const Share& share : arrangements_[arrangement].shares) bundles.push_back(share.bundle);
  state = joint_->state_of(bundles);
}

void OneGpuSearch::expand(LabelIndex label, SlotIndex t) {
  const double bound = labels_[label].bound;
  if (nodes_ >= nodes_end_) return leave_out(bound);
  if (limits_.is_from_pool) return expand_from_pool(label, t);
  if (bound_ == nullptr) return expand_jointly(label, t);
  nodes_ += 1;
  Draft draft;
  draft.label = label;
  draft.slot = t;
  draft.bound = bound_by_prices(labels_[label], t);
  draft.slack = draft.bound - cutoff();
  const int services = static_cast<int>(state_index_.size());
  for (const ServiceIndex service : Indices<ServiceIndex>(services)) {
    draft.options.push_back(&options_of(labels_[label], service, t, draft.slack));
  }
  draft.least.assign(ix(services), std::vector<double>(ix(case_.rooms.count()), kOpen));
  draft.shares.resize(ix(services));
  combine(draft, ServiceIndex(0), kEmptyRoom, 0, false);
  try_deals(draft);
}

/// What a service may have after a change, with what that costs it at least.
const std::vector<OneGpuSearch::Option>& OneGpuSearch::options_of(const Label& label, ServiceIndex service, SlotIndex t,
                                                                  double slack) {
  const Share share = share_of(label, service);
  Known& known = known_[service];
  if (state_index_[service] < 0) {
    KnownOptions& same = known.of_bundle[share.bundle];
    if (same.slot == t && same.slack >= slack) return same.options;
    same.slot = t;
    same.slack = slack;
    fill_options(label, service, t, slack, same.options);
    return same.options;
  }
  fill_options(label, service, t, slack, known.latest);
  return known.latest;
}

void OneGpuSearch::fill_options(const Label& label, ServiceIndex service, SlotIndex t, double slack,
                                std::vector<Option>& options) const {
  const Bundles& bundles = case_.bundles[service];
  const Share share = share_of(label, service);
  const double now = bound_->from(service, t, share.bundle, state_of(label, service));
  const auto room_of = [&](const Share& wanted) {
    const RoomIndex room = bundles.room[wanted.bundle];
    return wanted.retraining_kind < 0 ? room : case_.rooms.add(room, wanted.retraining_kind);
  };
  options.clear();
  options.push_back({.share = share, .room = room_of(share), .loss = 0});
  const ServiceTerms& terms = case_.problem.services[service];
  bool can_train = false;
  if (terms.retraining && !terms.retrains_elsewhere) {
    const bool is_due_later = !terms.retraining->due_slots.empty() && terms.retraining->due_slots.back() > t;
    can_train = is_due_later || state_of(label, service).is_open();
  }
  const int kinds = terms.retraining ? case_.rooms.kinds() : 0;
  for (const BundleIndex bundle : Indices<BundleIndex>(bundles.count())) {
    for (KindIndex kind = kNoKind; kind < kinds; ++kind) {
      if (kind >= 0 && kind != share.retraining_kind && (!can_train || case_.progress_rate(service, kind) <= 0))
        continue;
      const Share wanted{.bundle = bundle, .retraining_kind = kind};
      if (wanted == share) continue;
      const RoomIndex room = room_of(wanted);
      if (room == kNoRoom) continue;
      const double loss = now - option_value(label, service, wanted, t);
      if (!(loss < slack)) continue;
      options.push_back({.share = wanted, .room = room, .loss = loss});
    }
  }
  std::ranges::sort(options.begin() + 1, options.end(), [](const Option& a, const Option& b) {
    if (a.loss != b.loss) return a.loss < b.loss;
    return std::pair(a.share.bundle, a.share.retraining_kind) < std::pair(b.share.bundle, b.share.retraining_kind);
  });
}

/// A bound of what a service is worth from slot t on if it gets a share then, whatever the others get.
double OneGpuSearch::option_value(const Label& label, ServiceIndex service, const Share& share, SlotIndex t) const {
  const Bundles& bundles = case_.bundles[service];
  const Share old = share_of(label, service);
  const BundleIndex common = bundles.common_part(old.bundle, share.bundle);
  const bool is_new = common != share.bundle;
  const bool trains_anew = share.retraining_kind >= 0 && share.retraining_kind != old.retraining_kind;
  SlotIndex end = t;
  if (trains_anew) end = case_.capped(t + case_.retraining_start_slots);
  if (is_new) end = case_.capped(t + case_.start_slots[service]);
  ModelState state = state_of(label, service);
  if (end == t) return bound_->from(service, t, share.bundle, state);
  if (end > case_.problem.floors_from && !case_.keeps_floor(service, bundles.rate[share.bundle])) return kNever;
  double rate = 0;
  if (share.retraining_kind >= 0) rate = case_.progress_rate(service, share.retraining_kind);
  rate += case_.standing_progress[service];
  const bool was_open = state.is_open();
  const double now = bound_->from(service, t, old.bundle, state);
  double value = 0;
  const SlotIndex trains_from = trains_anew ? std::min(end, t + case_.retraining_start_slots) : t;
  value += advance(service, common, 0, t, trains_from, state);
  value += advance(service, common, rate, trains_from, end, state);
  // Whether sooner done is better cannot be said here.
  if (was_open && !state.is_open()) return now;
  RoomIndex room = bundles.room[share.bundle];
  if (share.retraining_kind >= 0) room = case_.rooms.add(room, share.retraining_kind);
  const PriceSums& sums = bound_->sums();
  return value - (sums.before(end)[room] - sums.before(t)[room]) + bound_->from(service, end, share.bundle, state);
}

/// The least that a service and those after it lose where the ones before it have taken a room.
double OneGpuSearch::least_loss(Draft& draft, ServiceIndex service, RoomIndex room) const {
  if (ix(service) == draft.options.size()) return 0;
  double& known = draft.least[service][room];
  if (!std::isnan(known)) return known;
  double least = std::numeric_limits<double>::infinity();
  for (const Option& option : *draft.options[service]) {
    if (option.loss >= least && &option != draft.options[service]->data()) break;
    const RoomIndex joined = case_.rooms.join(room, option.room);
    if (joined != kNoRoom) least = std::min(least, option.loss + least_loss(draft, service + 1, joined));
  }
  return known = least;
}

void OneGpuSearch::combine(Draft& draft, ServiceIndex service, RoomIndex room, double loss, bool changes) {
  if (ix(service) == draft.options.size()) {
    if (!changes) return;
    ++nodes_;
    const Label& label = labels_[draft.label];
    const std::vector<Share> kept = arrangements_.most_kept(arrangements_[label.arrangement], draft.shares);
    loss = draft.bound - deal_bound(draft.label, draft.slot, draft.shares, kept);
    if (loss < draft.slack) add_deal(draft, loss);
    return;
  }
  const std::vector<Option>& options = *draft.options[service];
  for (const Option& option : options) {
    if (nodes_ >= nodes_end_) return give_up(draft);
    const RoomIndex joined = case_.rooms.join(room, option.room);
    if (joined == kNoRoom || !(loss + option.loss + least_loss(draft, service + 1, joined) < draft.slack)) continue;
    draft.shares[service] = option.share;
    combine(draft, service + 1, joined, loss + option.loss, changes || &option != options.data());
  }
}

/// Leaves out all that a label could still change to.
void OneGpuSearch::give_up(Draft& draft) {
  draft.is_cut = true;
  draft.slack = 0;
}

void OneGpuSearch::add_deal(Draft& draft, double loss) {
  draft.deals.push_back({.loss = loss, .shares = draft.shares});
  std::ranges::push_heap(draft.deals, smaller_loss);
  if (draft.deals.size() <= ix(limits_.changes_max)) return;
  std::ranges::pop_heap(draft.deals, smaller_loss);
  draft.slack = draft.deals.back().loss;
  draft.is_cut = true;
  draft.deals.pop_back();
}

/// The kinds of which no piece that stands could be given to somebody else, so that each new one is created.
OneGpuSearch::KindSet OneGpuSearch::kinds_to_create(const Arrangement& from, const std::vector<Share>& kept) const {
  const Rooms& rooms = case_.rooms;
  std::array<int, kKindsMax> left{};
  for (const Piece& piece : from.pieces) ++left[case_.model.sites[piece.site].kind];
  for (const ServiceIndex service : indices_of<ServiceIndex>(kept)) {
    const RoomIndex room = case_.bundles[service].room[kept[service].bundle];
    for (const KindIndex kind : Indices<KindIndex>(rooms.kinds())) left[kind] -= rooms.count_of(room, kind);
    if (kept[service].retraining_kind >= 0) --left[kept[service].retraining_kind];
  }
  KindSet creates;
  for (const KindIndex kind : Indices<KindIndex>(rooms.kinds())) creates[kind] = left[kind] <= 0;
  return creates;
}

/// What a label is worth at most if it changes to these shares and no more of what stands goes on, wherever they stand.
///
/// A piece that does not go on can be given to somebody else, who then need not create one. So the bound is the best of
/// all ways to give up one kept piece of each of some kinds of which none would be left.
double OneGpuSearch::deal_bound(LabelIndex label, SlotIndex t, const std::vector<Share>& shares,
                                const std::vector<Share>& kept) const {
  const KindSet creates = kinds_to_create(arrangements_[labels_[label].arrangement], kept);
  if (!create_matters_) return kept_bound(label, t, shares, kept, creates).value;
  // Fewer kept pieces can do no better than all of them where nothing has to be created.
  const Kept most = kept_bound(label, t, shares, kept, {});
  if (!most.gets_done && !(most.value > cutoff())) return most.value;
  double bound = kept_bound(label, t, shares, kept, creates).value;
  KindSet begins;  // of which kinds new pieces are wanted
  for (const ServiceIndex service : indices_of<ServiceIndex>(shares)) {
    const Bundles& bundles = case_.bundles[service];
    for (const ItemIndex item : indices_of<ItemIndex>(bundles.labels)) {
      if (bundles.count_of(shares[service].bundle, item) > bundles.count_of(kept[service].bundle, item)) {
        begins.set(ix(bundles.labels[item].kind));
      }
    }
    const KindIndex kind = shares[service].retraining_kind;
    if (kind >= 0 && kind != kept[service].retraining_kind) begins.set(ix(kind));
  }
  std::vector<Share> fewer = kept;
  for (const ServiceIndex service : indices_of<ServiceIndex>(shares)) {
    const Bundles& bundles = case_.bundles[service];
    const auto is_useful = [&](KindIndex kind) { return creates[kind] && begins[kind]; };
    for (const ItemIndex item : indices_of<ItemIndex>(bundles.labels)) {
      if (bundles.count_of(kept[service].bundle, item) == 0 || !is_useful(bundles.labels[item].kind)) continue;
      fewer[service].bundle = bundles.minus(kept[service].bundle, item);
      bound = std::max(bound, deal_bound(label, t, shares, fewer));
      fewer[service] = kept[service];
    }
    if (kept[service].retraining_kind >= 0 && is_useful(kept[service].retraining_kind)) {
      fewer[service].retraining_kind = kNoKind;
      bound = std::max(bound, deal_bound(label, t, shares, fewer));
      fewer[service] = kept[service];
    }
  }
  return bound;
}

OneGpuSearch::Kept OneGpuSearch::kept_bound(LabelIndex number, SlotIndex t, const std::vector<Share>& shares,
                                            const std::vector<Share>& kept, const KindSet& creates) const {
  const Label& label = labels_[number];
  const Problem& problem = case_.problem;
  const auto ready_at = [&](KindIndex kind, double start) {
    const double create = creates[kind] ? problem.create_seconds : 0;
    return t + slots_of_seconds(problem.plumbing_seconds + start + create);
  };
  std::vector<SlotIndex>& serves_from = scratch_.serves_from;
  std::vector<SlotIndex>& trains_from = scratch_.trains_from;
  serves_from.assign(shares.size(), t);
  trains_from.assign(shares.size(), t);
  SlotIndex end = t;
  for (const ServiceIndex service : indices_of<ServiceIndex>(shares)) {
    const Share& now = shares[service];
    if (now.bundle != kept[service].bundle) {
      const Bundles& bundles = case_.bundles[service];
      SlotIndex soonest = case_.end();
      for (const ItemIndex item : indices_of<ItemIndex>(bundles.labels)) {
        if (bundles.count_of(now.bundle, item) <= bundles.count_of(kept[service].bundle, item)) continue;
        const SlotIndex ready = ready_at(bundles.labels[item].kind, problem.services[service].start_seconds);
        soonest = std::min(soonest, ready);
        end = std::max(end, ready);
      }
      serves_from[service] = soonest;
    }
    if (now.retraining_kind != kept[service].retraining_kind) {
      trains_from[service] = ready_at(now.retraining_kind, 0);
      end = std::max(end, trains_from[service]);
    }
  }
  end = case_.capped(end);
  double served = label.value;
  double alone = bound_ != nullptr ? bound_->income(end) : 0;
  bool gets_done = false;
  std::vector<ModelState>& models = scratch_.models;
  models.clear();
  for (const ServiceIndex service : indices_of<ServiceIndex>(shares)) {
    const Share& now = shares[service];
    ModelState state = state_of(label, service);
    const bool was_open = state.is_open();
    const double standing = case_.standing_progress[service];
    double rate = standing;
    if (now.retraining_kind >= 0) rate += case_.progress_rate(service, now.retraining_kind);
    for (SlotIndex at = t; at < end;) {
      const bool serves = at >= serves_from[service];
      const bool is_training = at >= trains_from[service];
      SlotIndex until = end;
      if (!serves) until = std::min(until, serves_from[service]);
      if (!is_training) until = std::min(until, trains_from[service]);
      const BundleIndex bundle = serves ? now.bundle : kept[service].bundle;
      served += advance(service, bundle, is_training ? rate : standing, at, until, state);
      at = until;
    }
    // Whether sooner done is better cannot be said here.
    if (was_open && !state.is_open()) {
      gets_done = true;
      if (trains_from[service] > t) return {.value = label.bound, .gets_done = true};
    }
    if (bound_ != nullptr) alone += bound_->from(service, end, now.bundle, state);
    models.push_back(state);
  }
  if (joint_ == nullptr || (bound_ != nullptr && !(served + alone > cutoff()))) return {served + alone, gets_done};
  std::vector<BundleIndex>& bundles = scratch_.bundles;
  bundles.clear();
  for (const Share& share : shares) bundles.push_back(share.bundle);
  const auto retrains = [](const Share& share) { return share.retraining_kind >= 0; };
  const bool has_spare = arrangements_[label.arrangement].has_spare || std::ranges::any_of(shares, retrains);
  const double together = joint_->from(end, joint_->state_of(bundles), models, has_spare);
  return {served + (bound_ != nullptr ? std::min(alone, together) : together), gets_done};
}

void OneGpuSearch::try_placings(const Draft& draft, const Deal& deal) {
  // `change` may move the arrangements.
  const Arrangement from = arrangements_[labels_[draft.label].arrangement];
  int left = limits_.placings_max;
  const auto is_worth = [&](const std::vector<Share>& kept) {
    ++nodes_;
    return deal_bound(draft.label, draft.slot, deal.shares, kept) > cutoff();
  };
  const bool is_whole = arrangements_.visit_placings(from, deal.shares, is_worth, [&](const Configuration& to) {
    if (left-- <= 0 || nodes_ >= nodes_end_) return false;
    change(draft.label, to, draft.slot);
    return true;
  });
  if (!is_whole) leave_out(std::min(draft.bound - deal.loss, labels_[draft.label].bound));
}

void OneGpuSearch::change(LabelIndex parent, const Configuration& to, SlotIndex t) {
  ++nodes_;
  const ArrangementIndex number = arrangements_.number_of(to);
  const Arrangement& next = arrangements_[number];
  const Configuration& from = arrangements_[labels_[parent].arrangement].pieces;
  if (!next.may_begin || to == from) return;
  const Begin begin = begin_of(from, to, t);
  const SlotIndex end = begin.end;
  if (end > case_.problem.floors_from && !next.keeps_floors) return;
  Label child{.arrangement = number, .parent = parent, .begin = t, .states = states_.size(), .used = used_.size()};
  if (!use_budgets(labels_[parent], to, child)) return used_.resize(child.used);
  note_joint_state(number);
  child.value =
      labels_[parent].value - price_of(from, to) + run_services(labels_[parent], next, t, end, begin.ready, child);
  const bool is_last = end == case_.problem.slots;
  if (is_last) finish(child, parent, &to);
  if (!is_last) child.bound = std::min(labels_[parent].bound, bound_of(child, end, true));
  if (is_last || !(child.bound > cutoff())) {
    states_.resize(child.states);
    used_.resize(child.used);
    return;
  }
  child.ready = end;
  labels_.push_back(child);
  std::vector<LabelIndex>& arrivals = end == t ? arrived_now_ : arrivals_[end];
  arrivals.emplace_back(labels_.size() - 1);
}

OneGpuSearch::Begin OneGpuSearch::begin_of(const Configuration& from, const Configuration& to, SlotIndex t) const {
  Begin begin{.ready = {}, .end = t};
  begin.ready.reserve(to.size());
  for (const Piece& piece : to) {
    const int slots = piece.service == kNobody ? 0 : slots_to_begin(case_, from, piece);
    begin.ready.push_back(t + slots);
    begin.end = std::max(begin.end, t + slots);
  }
  begin.end = case_.capped(begin.end);
  return begin;
}

double OneGpuSearch::price_of(const Configuration& from, const Configuration& to) const {
  if (case_.problem.change_price == 0) return 0;
  const auto missing = [](const Configuration& pieces, const Configuration& others) {
    return std::ranges::count_if(pieces,
                                 [&](const Piece& piece) { return standing_on(others, piece.site) == nullptr; });
  };
  return case_.problem.change_price * static_cast<double>(missing(from, to) + missing(to, from));
}

bool OneGpuSearch::use_budgets(const Label& parent, const Configuration& to, const Label& child) {
  const Configuration& from = arrangements_[parent.arrangement].pieces;
  for (int i = 0; i < budgets_count_; ++i) used_.push_back(used_[parent.used + ix(i)]);
  const auto count = [&](const Configuration& those, const Configuration& others) {
    for (const Piece& piece : those) {
      if (piece.service == kNobody || budget_index_[piece.service] < 0) continue;
      if (standing_on(others, piece.site) != nullptr) continue;
      ++used_[child.used + ix(budget_index_[piece.service])];
    }
  };
  count(to, from);
  count(from, to);
  for (const ServiceIndex service : indices_of<ServiceIndex>(budget_index_)) {
    const int budget = budget_index_[service];
    if (budget >= 0 && used_[child.used + ix(budget)] > case_.problem.services[service].changes_max) return false;
  }
  return true;
}

/// Value of the slots [t, end) in which pieces become ready; adds the states at `end`.
double OneGpuSearch::run_services(const Label& parent, const Arrangement& to, SlotIndex t, SlotIndex end,
                                  const std::vector<SlotIndex>& ready, Label& child) {
  double value = 0;
  for (const ServiceIndex service : indices_of<ServiceIndex>(state_index_)) {
    ModelState state = state_of(parent, service);
    const Bundles& bundles = case_.bundles[service];
    const std::size_t variants = case_.problem.services[service].variants.size();
    for (SlotIndex now = t; now < end;) {
      BundleIndex bundle(0);
      double rate = 0;
      SlotIndex until = end;
      for (std::size_t i = 0; i < to.pieces.size(); ++i) {
        const Piece& piece = to.pieces[i];
        if (piece.service != service) continue;
        if (ready[i] > now) {
          until = std::min(until, ready[i]);
          continue;
        }
        const KindIndex kind = case_.model.sites[piece.site].kind;
        if (piece.use == kRetraining) {
          const double slots = case_.model.rates[kind][service].retraining_slots;
          if (slots > 0) rate += 1 / slots;
        } else {
          const ItemIndex label = bundles.label_of[ix(kind) * variants + ix(piece.use)];
          if (label != kNoLabel) bundle = bundles.plus(bundle, label);
        }
      }
      value += advance(service, bundle, rate, now, until, state);
      now = until;
    }
    if (state_index_[service] >= 0) states_.push_back(state);
  }
  static_cast<void>(child);
  return value;
}

double OneGpuSearch::tail_of(const Label& label) const {
  double value = 0;
  for (const ServiceIndex service : indices_of<ServiceIndex>(state_index_)) {
    const ServiceTerms& terms = case_.problem.services[service];
    const LevelIndex level = case_.bundles[service].level[share_of(label, service).bundle];
    const ModelState state = state_of(label, service);
    value += case_.served[service].tail(level, !state.is_open());
    if (state.is_open()) value += terms.retraining->progress_value * state.progress;
  }
  return value;
}

/// A label at the end of the window; `last` is a change that is not in the list of labels.
void OneGpuSearch::finish(const Label& label, LabelIndex parent, const Configuration* last) {
  const double value = label.value + tail_of(label);
  if (!(value > best_value_)) return;
  best_value_ = value;
  best_changes_.clear();
  if (last != nullptr) best_changes_.push_back({.slot = label.begin, .to = *last});
  for (const Label* now = &labels_[parent]; now->parent >= 0; now = &labels_[now->parent]) {
    best_changes_.push_back({.slot = now->begin, .to = arrangements_[now->arrangement].pieces});
  }
  std::ranges::reverse(best_changes_);
}

}  // namespace berth::planner
