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

const Piece* standing_on(const Configuration& pieces, int site) {
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
  if (piece.use != kRetraining) seconds += problem.services[ix(piece.service)].start_seconds;
  if (before == nullptr) {
    seconds += problem.create_seconds;
    const std::uint64_t clashes = gpu_case.model.sites[ix(piece.site)].clashes;
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
  std::vector<int> ready;
  for (const StandingPiece& standing : case_.gpu.standing) {
    pieces.push_back(standing.piece);
    ready.push_back(standing.ready_in);
  }
  root_.arrangement = arrangements_.number_of(pieces);
  for (const ServiceTerms& terms : case_.problem.services) {
    if (!terms.retraining) continue;
    ModelState state = first_state(*terms.retraining);
    enter_slot(*terms.retraining, 0, state);
    states_.push_back(state);
  }
  used_.assign(ix(budgets_count_), 0);
  Label child;
  child.states = states_.size();
  const Arrangement& standing = arrangements_[root_.arrangement];
  const double value = run_services(root_, standing, 0, case_.first_slot, ready, child);
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
  for (int service = 0; ix(service) < state_index_.size(); ++service) {
    starts.push_back({.bundle = share_of(root_, service).bundle, .state = state_of(root_, service)});
  }
  return starts;
}

ModelState OneGpuSearch::state_of(const Label& label, int service) const {
  const int index = state_index_[ix(service)];
  return index < 0 ? ModelState{} : states_[label.states + ix(index)];
}

Share OneGpuSearch::share_of(const Label& label, int service) const {
  return arrangements_[label.arrangement].shares[ix(service)];
}

/// Whether nothing becomes due, done or fresh in (from, to].
bool OneGpuSearch::is_quiet(const RetrainingTerms& terms, const ModelState& state, double progress_rate, int from,
                            int to) {
  if (state.is_done) return false;
  if (state.is_stale && state.progress + (to - from) * progress_rate >= kDone - 1e-6) return false;
  const auto due = std::ranges::upper_bound(terms.due_slots, from);
  return due == terms.due_slots.end() || *due > to;
}

/// Value of a service in [from, to), and its state at the beginning of `to`.
double OneGpuSearch::advance(int service, int bundle, double progress_rate, int from, int to, ModelState& state) const {
  const ServiceTerms& terms = case_.problem.services[ix(service)];
  const Served& served = case_.served[ix(service)];
  const int level = case_.bundles[ix(service)].level[ix(bundle)];
  if (!terms.retraining) return served.value(level, true, from, to);
  if (terms.outside_progress.empty() && is_quiet(*terms.retraining, state, progress_rate, from, to)) {
    if (state.is_stale) state.progress += (to - from) * progress_rate;
    return served.value(level, !state.is_stale, from, to);
  }
  double value = 0;
  for (int t = from; t < to; ++t) {
    value += served.value(level, !state.is_stale, t, t + 1);
    if (state.is_open()) {
      const double outside = terms.outside_progress.empty() ? 0 : terms.outside_progress[ix(t)];
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
bool OneGpuSearch::has_spare(const Label& label, int t) const {
  return arrangements_[label.arrangement].has_spare && (label.parent >= 0 || t > case_.first_slot);
}

/// `may_take`: slices that serve nobody may still be taken over at t.
double OneGpuSearch::bound_of(const Label& label, int t, bool may_take) const {
  if (joint_ == nullptr) return bound_by_prices(label, t);
  const int state = joint_states_[ix(label.arrangement)];
  if (joint_->is_always_fresh()) return label.value + joint_->from(t, state);
  const double alone = bound_by_prices(label, t);
  if (!(alone > cutoff())) return alone;
  std::vector<ModelState> models;
  models.reserve(state_index_.size());
  for (int service = 0; ix(service) < state_index_.size(); ++service) models.push_back(state_of(label, service));
  return std::min(alone, label.value + joint_->from(t, state, models, may_take && has_spare(label, t)));
}

double OneGpuSearch::bound_by_prices(const Label& label, int t) const {
  double bound = label.value + bound_->income(t);
  for (int service = 0; ix(service) < state_index_.size(); ++service) {
    bound += bound_->from(service, t, share_of(label, service).bundle, state_of(label, service));
  }
  return bound;
}

void OneGpuSearch::clear(const PassLimits& limits) {
  limits_ = limits;
  labels_.clear();
  states_.resize(ix(states_count_));
  used_.resize(ix(budgets_count_));
  for (std::vector<int>& arrivals : arrivals_) arrivals.clear();
  left_out_ = kNever;
  nodes_end_ = nodes_ + limits.nodes_max;
}

void OneGpuSearch::start_pass(const PassLimits& limits) {
  clear(limits);
  note_joint_state(root_.arrangement);
  known_.resize(state_index_.size());
  for (int service = 0; ix(service) < state_index_.size(); ++service) {
    known_[ix(service)].of_bundle.assign(ix(case_.bundles[ix(service)].count()), {});
  }
  labels_.push_back(root_);
  labels_.front().bound = std::numeric_limits<double>::infinity();
  // The root's own states are not to be changed by holding on.
  labels_.front().states = states_.size();
  for (int i = 0; i < states_count_; ++i) states_.push_back(states_[ix(i)]);
  arrivals_[ix(case_.first_slot)].push_back(0);
}

void OneGpuSearch::pass(const PassLimits& limits) {
  if (root_.value == kNever) return;
  start_pass(limits);
  std::vector<int> alive;
  for (int t = case_.first_slot; t < case_.problem.slots; ++t) {
    alive.insert(alive.end(), arrivals_[ix(t)].begin(), arrivals_[ix(t)].end());
    select(alive, t);
    arrived_now_.clear();
    for (const int label : alive) {
      if (begins_changes(t)) {
        expand(label, t);
      } else if (case_.can_change(t)) {
        leave_out(labels_[ix(label)].bound);
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
  for (const int label : alive) finish(labels_[ix(label)], label, nullptr);
}

/// One way through the window: whenever the joint bound would change, the change that keeps most of it is made, where
/// that is no more than `patience` of the bound below what waiting keeps.
void OneGpuSearch::dive(double patience, const PassLimits& limits) {
  if (root_.value == kNever) return;
  start_pass(limits);
  int number = 0;
  for (int t = case_.first_slot; t < case_.problem.slots;) {
    labels_[ix(number)].bound = bound_of(labels_[ix(number)], t, true);
    if (!(labels_[ix(number)].bound > cutoff())) return;
    const int child = case_.can_change(t) ? best_child(number, t, patience) : -1;
    if (child >= 0) {
      number = child;
      t = labels_[ix(child)].ready;
      if (t > labels_[ix(child)].begin) continue;
    }
    std::vector<int> one = {number};
    hold(one, t++);
    if (one.empty()) return;
  }
  finish(labels_[ix(number)], number, nullptr);
}

/// The child that a dive goes on with; -1: it waits.
int OneGpuSearch::best_child(int number, int t, double patience) {
  const int state = joint_states_[ix(labels_[ix(number)].arrangement)];
  const double loss = joint_->loss_of_waiting(t, state);
  const double bound = labels_[ix(number)].bound;
  if (!(loss > kWaits * std::abs(bound))) return -1;
  const std::size_t first = labels_.size();
  expand(number, t);
  double least = bound - loss;
  for (std::size_t i = first; i < labels_.size(); ++i) least = std::max(least, labels_[i].bound);
  least -= patience * std::abs(bound);
  int best = -1;
  double most = kNever;
  for (std::size_t i = first; i < labels_.size(); ++i) {
    if (labels_[i].bound < least) continue;
    const double value = value_of_staying(labels_[i], labels_[i].ready);
    if (value > most) best = static_cast<int>(i);
    most = std::max(most, value);
  }
  return best;
}

bool OneGpuSearch::begins_changes(int t) const {
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
  int t = case_.first_slot;
  const auto value_until = [&](int end) {
    const Arrangement& standing = arrangements_[label.arrangement];
    const bool binds = end > t && end > case_.problem.floors_from;
    if ((end > t && !standing.can_stand) || (binds && !standing.keeps_floors)) return kNever;
    const std::vector<int> ready(standing.pieces.size(), t);
    Label next = label;
    next.states = states_.size();
    next.value += run_services(label, standing, t, end, ready, next);
    label = next;
    t = end;
    return label.value;
  };
  double value = label.value;
  int last = -1;
  for (const Change& change : changes) {
    if (value == kNever) break;
    const bool fits = change.slot >= t && change.slot > last && case_.can_change(change.slot);
    const int number = arrangements_.number_of(change.to);
    value = fits && number != label.arrangement ? value_until(change.slot) : kNever;
    if (value == kNever) break;
    const Begin begin = begin_of(arrangements_[label.arrangement].pieces, change.to, t);
    Label child{.arrangement = number, .parent = -1, .begin = t, .states = states_.size(), .used = used_.size()};
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
  if (value != kNever) value = value_until(case_.problem.slots);
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
void OneGpuSearch::select(std::vector<int>& labels, int t) {
  std::erase_if(labels, [&](int label) {
    double& bound = labels_[ix(label)].bound;
    bound = std::min(bound, bound_of(labels_[ix(label)], t, true));
    return !(bound > cutoff());
  });
  nodes_ += static_cast<std::int64_t>(labels.size());
  std::ranges::sort(labels, [&](int a, int b) {
    const int alike_a = arrangements_[labels_[ix(a)].arrangement].alike;
    const int alike_b = arrangements_[labels_[ix(b)].arrangement].alike;
    if (alike_a != alike_b) return alike_a < alike_b;
    if (labels_[ix(a)].value != labels_[ix(b)].value) return labels_[ix(a)].value > labels_[ix(b)].value;
    return a < b;
  });
  std::vector<int> kept;
  kept.reserve(labels.size());
  std::size_t group = 0;
  for (const int label : labels) {
    const auto alike = [&](int number) { return arrangements_[labels_[ix(number)].arrangement].alike; };
    if (!kept.empty() && alike(kept[group]) != alike(label)) group = kept.size();
    bool is_covered = false;
    for (std::size_t i = group; i < kept.size() && !is_covered; ++i) {
      is_covered = covers(labels_[ix(kept[i])], labels_[ix(label)], t);
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
void OneGpuSearch::keep_most_promising(std::vector<int>& labels, int t) {
  const auto by_bound = [&](int a, int b) {
    return labels_[ix(a)].bound != labels_[ix(b)].bound ? labels_[ix(a)].bound > labels_[ix(b)].bound : a < b;
  };
  std::ranges::sort(labels, by_bound);
  const std::size_t first = ix(limits_.width) / 2;
  const std::size_t others = ix(limits_.width) - first;
  std::vector<std::pair<double, int>> staying;
  staying.reserve(labels.size() - first);
  for (std::size_t i = first; i < labels.size(); ++i) {
    staying.emplace_back(-value_of_staying(labels_[ix(labels[i])], t), labels[i]);
  }
  std::ranges::sort(staying);
  labels.resize(first);
  for (std::size_t i = 0; i < staying.size(); ++i) {
    if (i < others) {
      labels.push_back(staying[i].second);
    } else {
      leave_out(labels_[ix(staying[i].second)].bound);
    }
  }
  std::ranges::sort(labels, by_bound);
}

/// What a label is worth about if what stands stays, and the models stay as they are.
double OneGpuSearch::value_of_staying(const Label& label, int t) const {
  double value = label.value;
  for (int service = 0; ix(service) < state_index_.size(); ++service) {
    const Served& served = case_.served[ix(service)];
    const int level = case_.bundles[ix(service)].level[ix(share_of(label, service).bundle)];
    const bool is_fresh = !state_of(label, service).is_stale;
    value += served.value(level, is_fresh, t, case_.problem.slots) + served.tail(level, is_fresh);
  }
  return value;
}

/// How much more a label must be worth already to be no worse than another with a different state of a service;
/// nothing where that cannot be said.
std::optional<double> OneGpuSearch::lead_needed(const ModelState& a, const ModelState& b, int service, int t) const {
  if (a == b) return 0;
  const RetrainingTerms& terms = *case_.problem.services[ix(service)].retraining;
  if (after_helps_[ix(service)] == 0) return std::nullopt;
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

bool OneGpuSearch::covers(const Label& a, const Label& b, int t) const {
  double lead = a.value - b.value;
  for (int service = 0; ix(service) < state_index_.size(); ++service) {
    if (state_index_[ix(service)] >= 0) {
      const std::optional<double> needed = lead_needed(state_of(a, service), state_of(b, service), service, t);
      if (!needed) return false;
      lead -= *needed;
    }
    const int budget = budget_index_[ix(service)];
    if (budget >= 0 && used_[a.used + ix(budget)] > used_[b.used + ix(budget)]) return false;
  }
  return lead >= 0;
}

/// One slot further with what stands.
void OneGpuSearch::hold(std::vector<int>& labels, int t) {
  std::erase_if(labels, [&](int number) {
    const Arrangement& arrangement = arrangements_[labels_[ix(number)].arrangement];
    return !arrangement.can_stand || (t >= case_.problem.floors_from && !arrangement.keeps_floors);
  });
  for (const int number : labels) {
    Label& label = labels_[ix(number)];
    const Arrangement& arrangement = arrangements_[label.arrangement];
    if (joint_ != nullptr && has_spare(label, t)) label.bound = std::min(label.bound, bound_of(label, t, false));
    for (int service = 0; ix(service) < state_index_.size(); ++service) {
      const int index = state_index_[ix(service)];
      ModelState none;
      ModelState& state = index < 0 ? none : states_[label.states + ix(index)];
      label.value += advance(service, arrangement.shares[ix(service)].bundle, arrangement.progress_rates[ix(service)],
                             t, t + 1, state);
    }
  }
}

void OneGpuSearch::expand_from_pool(int label, int t) {
  const double bound = labels_[ix(label)].bound;
  leave_out(bound);
  Draft draft;
  draft.label = label;
  draft.slot = t;
  draft.bound = bound;
  const double alone = bound_ != nullptr ? bound_by_prices(labels_[ix(label)], t) : bound;
  for (const std::vector<Share>& shares : pool_) {
    double left = alone - cutoff();
    for (int service = 0; bound_ != nullptr && ix(service) < shares.size() && left > 0; ++service) {
      const Share share = share_of(labels_[ix(label)], service);
      if (shares[ix(service)] == share) continue;
      const Label& now = labels_[ix(label)];
      left -= bound_->from(service, t, share.bundle, state_of(now, service)) -
              option_value(now, service, shares[ix(service)], t);
    }
    ++nodes_;
    if (left <= 0) continue;
    const Arrangement& from = arrangements_[labels_[ix(label)].arrangement];
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
void OneGpuSearch::expand_jointly(int label, int t) {
  const double bound = labels_[ix(label)].bound;
  const int state = joint_states_[ix(labels_[ix(label)].arrangement)];
  nodes_ += 1 + joint_->states() / kStatesOfNode;
  const double before = labels_[ix(label)].value;
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
    add_deals(draft, target.state, 0);
  }
  try_deals(draft);
}

void OneGpuSearch::try_deals(Draft& draft) {
  if (draft.is_cut) leave_out(std::min(draft.bound - draft.slack, labels_[ix(draft.label)].bound));
  std::ranges::sort_heap(draft.deals, smaller_loss);
  for (const Deal& deal : draft.deals) {
    if (draft.bound - deal.loss > cutoff()) try_placings(draft, deal);
  }
}

/// All shares that count as a state, those of the services before `service` being chosen.
void OneGpuSearch::add_deals(Draft& draft, int state, int service) {
  const Label& label = labels_[ix(draft.label)];
  const Arrangement& from = arrangements_[label.arrangement];
  if (ix(service) < draft.shares.size()) {
    for (const int bundle : joint_->bundles_of(state, service)) {
      if (nodes_ >= nodes_end_) return give_up(draft);
      draft.shares[ix(service)].bundle = bundle;
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

void OneGpuSearch::note_joint_state(int arrangement) {
  if (joint_ == nullptr) return;
  if (joint_states_.size() <= ix(arrangement)) joint_states_.resize(ix(arrangement) + 1, -1);
  int& state = joint_states_[ix(arrangement)];
  if (state >= 0) return;
  std::vector<int> bundles;
  bundles.reserve(state_index_.size());
  for (const Share& share : arrangements_[arrangement].shares) bundles.push_back(share.bundle);
  state = joint_->state_of(bundles);
}

void OneGpuSearch::expand(int label, int t) {
  const double bound = labels_[ix(label)].bound;
  if (nodes_ >= nodes_end_) return leave_out(bound);
  if (limits_.is_from_pool) return expand_from_pool(label, t);
  if (bound_ == nullptr) return expand_jointly(label, t);
  nodes_ += 1;
  Draft draft;
  draft.label = label;
  draft.slot = t;
  draft.bound = bound_by_prices(labels_[ix(label)], t);
  draft.slack = draft.bound - cutoff();
  const int services = static_cast<int>(state_index_.size());
  for (int service = 0; service < services; ++service) {
    draft.options.push_back(&options_of(labels_[ix(label)], service, t, draft.slack));
  }
  draft.least.assign(ix(services), std::vector<double>(ix(case_.rooms.count()), kOpen));
  draft.shares.resize(ix(services));
  combine(draft, 0, 0, 0, false);
  try_deals(draft);
}

/// What a service may have after a change, with what that costs it at least.
const std::vector<OneGpuSearch::Option>& OneGpuSearch::options_of(const Label& label, int service, int t,
                                                                  double slack) {
  const Share share = share_of(label, service);
  Known& known = known_[ix(service)];
  if (state_index_[ix(service)] < 0) {
    KnownOptions& same = known.of_bundle[ix(share.bundle)];
    if (same.slot == t && same.slack >= slack) return same.options;
    same.slot = t;
    same.slack = slack;
    fill_options(label, service, t, slack, same.options);
    return same.options;
  }
  fill_options(label, service, t, slack, known.latest);
  return known.latest;
}

void OneGpuSearch::fill_options(const Label& label, int service, int t, double slack,
                                std::vector<Option>& options) const {
  const Bundles& bundles = case_.bundles[ix(service)];
  const Share share = share_of(label, service);
  const double now = bound_->from(service, t, share.bundle, state_of(label, service));
  const auto room_of = [&](const Share& wanted) {
    const int room = bundles.room[ix(wanted.bundle)];
    return wanted.retraining_kind < 0 ? room : case_.rooms.add(room, wanted.retraining_kind);
  };
  options.clear();
  options.push_back({.share = share, .room = room_of(share), .loss = 0});
  const ServiceTerms& terms = case_.problem.services[ix(service)];
  bool can_train = false;
  if (terms.retraining && !terms.retrains_elsewhere) {
    const bool is_due_later = !terms.retraining->due_slots.empty() && terms.retraining->due_slots.back() > t;
    can_train = is_due_later || state_of(label, service).is_open();
  }
  const int kinds = terms.retraining ? case_.rooms.kinds() : 0;
  for (int bundle = 0; bundle < bundles.count(); ++bundle) {
    for (int kind = -1; kind < kinds; ++kind) {
      if (kind >= 0 && kind != share.retraining_kind && (!can_train || case_.progress_rate(service, kind) <= 0))
        continue;
      const Share wanted{.bundle = bundle, .retraining_kind = kind};
      if (wanted == share) continue;
      const int room = room_of(wanted);
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
double OneGpuSearch::option_value(const Label& label, int service, const Share& share, int t) const {
  const Bundles& bundles = case_.bundles[ix(service)];
  const Share old = share_of(label, service);
  const int common = bundles.common_part(old.bundle, share.bundle);
  const bool is_new = common != share.bundle;
  const bool trains_anew = share.retraining_kind >= 0 && share.retraining_kind != old.retraining_kind;
  const int slots = case_.problem.slots;
  int end = t;
  if (trains_anew) end = std::min(slots, t + case_.retraining_start_slots);
  if (is_new) end = std::min(slots, t + case_.start_slots[ix(service)]);
  ModelState state = state_of(label, service);
  if (end == t) return bound_->from(service, t, share.bundle, state);
  if (end > case_.problem.floors_from && !case_.keeps_floor(service, bundles.rate[ix(share.bundle)])) return kNever;
  double rate = 0;
  if (share.retraining_kind >= 0) rate = case_.progress_rate(service, share.retraining_kind);
  rate += case_.standing_progress[ix(service)];
  const bool was_open = state.is_open();
  const double now = bound_->from(service, t, old.bundle, state);
  double value = 0;
  const int trains_from = trains_anew ? std::min(end, t + case_.retraining_start_slots) : t;
  value += advance(service, common, 0, t, trains_from, state);
  value += advance(service, common, rate, trains_from, end, state);
  // Whether sooner done is better cannot be said here.
  if (was_open && !state.is_open()) return now;
  int room = bundles.room[ix(share.bundle)];
  if (share.retraining_kind >= 0) room = case_.rooms.add(room, share.retraining_kind);
  const PriceSums& sums = bound_->sums();
  return value - (sums.before(end)[room] - sums.before(t)[room]) + bound_->from(service, end, share.bundle, state);
}

/// The least that a service and those after it lose where the ones before it have taken a room.
double OneGpuSearch::least_loss(Draft& draft, int service, int room) const {
  if (ix(service) == draft.options.size()) return 0;
  double& known = draft.least[ix(service)][ix(room)];
  if (!std::isnan(known)) return known;
  double least = std::numeric_limits<double>::infinity();
  for (const Option& option : *draft.options[ix(service)]) {
    if (option.loss >= least && &option != draft.options[ix(service)]->data()) break;
    const int joined = case_.rooms.join(room, option.room);
    if (joined != kNoRoom) least = std::min(least, option.loss + least_loss(draft, service + 1, joined));
  }
  return known = least;
}

void OneGpuSearch::combine(Draft& draft, int service, int room, double loss, bool changes) {
  if (ix(service) == draft.options.size()) {
    if (!changes) return;
    ++nodes_;
    const Label& label = labels_[ix(draft.label)];
    const std::vector<Share> kept = arrangements_.most_kept(arrangements_[label.arrangement], draft.shares);
    loss = draft.bound - deal_bound(draft.label, draft.slot, draft.shares, kept);
    if (loss < draft.slack) add_deal(draft, loss);
    return;
  }
  const std::vector<Option>& options = *draft.options[ix(service)];
  for (const Option& option : options) {
    if (nodes_ >= nodes_end_) return give_up(draft);
    const int joined = case_.rooms.join(room, option.room);
    if (joined == kNoRoom || !(loss + option.loss + least_loss(draft, service + 1, joined) < draft.slack)) continue;
    draft.shares[ix(service)] = option.share;
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
  for (const Piece& piece : from.pieces) ++left[ix(case_.model.sites[ix(piece.site)].kind)];
  for (std::size_t service = 0; service < kept.size(); ++service) {
    const int room = case_.bundles[service].room[ix(kept[service].bundle)];
    for (int kind = 0; kind < rooms.kinds(); ++kind) left[ix(kind)] -= rooms.count_of(room, kind);
    if (kept[service].retraining_kind >= 0) --left[ix(kept[service].retraining_kind)];
  }
  KindSet creates;
  for (int kind = 0; kind < rooms.kinds(); ++kind) creates[ix(kind)] = left[ix(kind)] <= 0;
  return creates;
}

/// What a label is worth at most if it changes to these shares and no more of what stands goes on, wherever they stand.
///
/// A piece that does not go on can be given to somebody else, who then need not create one. So the bound is the best of
/// all ways to give up one kept piece of each of some kinds of which none would be left.
double OneGpuSearch::deal_bound(int label, int t, const std::vector<Share>& shares,
                                const std::vector<Share>& kept) const {
  const KindSet creates = kinds_to_create(arrangements_[labels_[ix(label)].arrangement], kept);
  if (!create_matters_) return kept_bound(label, t, shares, kept, creates).value;
  // Fewer kept pieces can do no better than all of them where nothing has to be created.
  const Kept most = kept_bound(label, t, shares, kept, {});
  if (!most.gets_done && !(most.value > cutoff())) return most.value;
  double bound = kept_bound(label, t, shares, kept, creates).value;
  KindSet begins;  // of which kinds new pieces are wanted
  for (std::size_t service = 0; service < shares.size(); ++service) {
    const Bundles& bundles = case_.bundles[service];
    for (int i = 0; ix(i) < bundles.labels.size(); ++i) {
      if (bundles.count_of(shares[service].bundle, i) > bundles.count_of(kept[service].bundle, i)) {
        begins.set(ix(bundles.labels[ix(i)].kind));
      }
    }
    const int kind = shares[service].retraining_kind;
    if (kind >= 0 && kind != kept[service].retraining_kind) begins.set(ix(kind));
  }
  std::vector<Share> fewer = kept;
  for (std::size_t service = 0; service < shares.size(); ++service) {
    const Bundles& bundles = case_.bundles[service];
    const auto is_useful = [&](int kind) { return creates[ix(kind)] && begins[ix(kind)]; };
    for (int i = 0; ix(i) < bundles.labels.size(); ++i) {
      if (bundles.count_of(kept[service].bundle, i) == 0 || !is_useful(bundles.labels[ix(i)].kind)) continue;
      fewer[service].bundle = bundles.minus(kept[service].bundle, i);
      bound = std::max(bound, deal_bound(label, t, shares, fewer));
      fewer[service] = kept[service];
    }
    if (kept[service].retraining_kind >= 0 && is_useful(kept[service].retraining_kind)) {
      fewer[service].retraining_kind = -1;
      bound = std::max(bound, deal_bound(label, t, shares, fewer));
      fewer[service] = kept[service];
    }
  }
  return bound;
}

OneGpuSearch::Kept OneGpuSearch::kept_bound(int number, int t, const std::vector<Share>& shares,
                                            const std::vector<Share>& kept, const KindSet& creates) const {
  const Label& label = labels_[ix(number)];
  const Problem& problem = case_.problem;
  const auto ready_at = [&](int kind, double start) {
    const double create = creates[ix(kind)] ? problem.create_seconds : 0;
    return t + slots_of_seconds(problem.plumbing_seconds + start + create);
  };
  std::vector<int>& serves_from = scratch_.serves_from;
  std::vector<int>& trains_from = scratch_.trains_from;
  serves_from.assign(shares.size(), t);
  trains_from.assign(shares.size(), t);
  int end = t;
  for (std::size_t service = 0; service < shares.size(); ++service) {
    const Share& now = shares[service];
    if (now.bundle != kept[service].bundle) {
      const Bundles& bundles = case_.bundles[service];
      int soonest = problem.slots;
      for (int i = 0; ix(i) < bundles.labels.size(); ++i) {
        if (bundles.count_of(now.bundle, i) <= bundles.count_of(kept[service].bundle, i)) continue;
        const int ready = ready_at(bundles.labels[ix(i)].kind, problem.services[service].start_seconds);
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
  end = std::min(end, problem.slots);
  double served = label.value;
  double alone = bound_ != nullptr ? bound_->income(end) : 0;
  bool gets_done = false;
  std::vector<ModelState>& models = scratch_.models;
  models.clear();
  for (int service = 0; ix(service) < shares.size(); ++service) {
    const Share& now = shares[ix(service)];
    ModelState state = state_of(label, service);
    const bool was_open = state.is_open();
    const double standing = case_.standing_progress[ix(service)];
    double rate = standing;
    if (now.retraining_kind >= 0) rate += case_.progress_rate(service, now.retraining_kind);
    for (int at = t; at < end;) {
      const bool serves = at >= serves_from[ix(service)];
      const bool is_training = at >= trains_from[ix(service)];
      int until = end;
      if (!serves) until = std::min(until, serves_from[ix(service)]);
      if (!is_training) until = std::min(until, trains_from[ix(service)]);
      const int bundle = serves ? now.bundle : kept[ix(service)].bundle;
      served += advance(service, bundle, is_training ? rate : standing, at, until, state);
      at = until;
    }
    // Whether sooner done is better cannot be said here.
    if (was_open && !state.is_open()) {
      gets_done = true;
      if (trains_from[ix(service)] > t) return {.value = label.bound, .gets_done = true};
    }
    if (bound_ != nullptr) alone += bound_->from(service, end, now.bundle, state);
    models.push_back(state);
  }
  if (joint_ == nullptr || (bound_ != nullptr && !(served + alone > cutoff()))) return {served + alone, gets_done};
  std::vector<int>& bundles = scratch_.bundles;
  bundles.clear();
  for (const Share& share : shares) bundles.push_back(share.bundle);
  const auto retrains = [](const Share& share) { return share.retraining_kind >= 0; };
  const bool has_spare = arrangements_[label.arrangement].has_spare || std::ranges::any_of(shares, retrains);
  const double together = joint_->from(end, joint_->state_of(bundles), models, has_spare);
  return {served + (bound_ != nullptr ? std::min(alone, together) : together), gets_done};
}

void OneGpuSearch::try_placings(const Draft& draft, const Deal& deal) {
  // `change` may move the arrangements.
  const Arrangement from = arrangements_[labels_[ix(draft.label)].arrangement];
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
  if (!is_whole) leave_out(std::min(draft.bound - deal.loss, labels_[ix(draft.label)].bound));
}

void OneGpuSearch::change(int parent, const Configuration& to, int t) {
  ++nodes_;
  const int number = arrangements_.number_of(to);
  const Arrangement& next = arrangements_[number];
  const Configuration& from = arrangements_[labels_[ix(parent)].arrangement].pieces;
  if (!next.may_begin || to == from) return;
  const Begin begin = begin_of(from, to, t);
  const int end = begin.end;
  if (end > case_.problem.floors_from && !next.keeps_floors) return;
  Label child{.arrangement = number, .parent = parent, .begin = t, .states = states_.size(), .used = used_.size()};
  if (!use_budgets(labels_[ix(parent)], to, child)) return used_.resize(child.used);
  note_joint_state(number);
  child.value = labels_[ix(parent)].value - price_of(from, to) +
                run_services(labels_[ix(parent)], next, t, end, begin.ready, child);
  const bool is_last = end == case_.problem.slots;
  if (is_last) finish(child, parent, &to);
  if (!is_last) child.bound = std::min(labels_[ix(parent)].bound, bound_of(child, end, true));
  if (is_last || !(child.bound > cutoff())) {
    states_.resize(child.states);
    used_.resize(child.used);
    return;
  }
  child.ready = end;
  labels_.push_back(child);
  std::vector<int>& arrivals = end == t ? arrived_now_ : arrivals_[ix(end)];
  arrivals.push_back(static_cast<int>(labels_.size()) - 1);
}

OneGpuSearch::Begin OneGpuSearch::begin_of(const Configuration& from, const Configuration& to, int t) const {
  Begin begin{.ready = {}, .end = t};
  begin.ready.reserve(to.size());
  for (const Piece& piece : to) {
    const int slots = piece.service == kNobody ? 0 : slots_to_begin(case_, from, piece);
    begin.ready.push_back(t + slots);
    begin.end = std::max(begin.end, t + slots);
  }
  begin.end = std::min(begin.end, case_.problem.slots);
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
      if (piece.service == kNobody || budget_index_[ix(piece.service)] < 0) continue;
      if (standing_on(others, piece.site) != nullptr) continue;
      ++used_[child.used + ix(budget_index_[ix(piece.service)])];
    }
  };
  count(to, from);
  count(from, to);
  for (int service = 0; ix(service) < budget_index_.size(); ++service) {
    const int budget = budget_index_[ix(service)];
    if (budget >= 0 && used_[child.used + ix(budget)] > case_.problem.services[ix(service)].changes_max) return false;
  }
  return true;
}

/// Value of the slots [t, end) in which pieces become ready; adds the states at `end`.
double OneGpuSearch::run_services(const Label& parent, const Arrangement& to, int t, int end,
                                  const std::vector<int>& ready, Label& child) {
  double value = 0;
  for (int service = 0; ix(service) < state_index_.size(); ++service) {
    ModelState state = state_of(parent, service);
    const Bundles& bundles = case_.bundles[ix(service)];
    const std::size_t variants = case_.problem.services[ix(service)].variants.size();
    for (int now = t; now < end;) {
      int bundle = 0;
      double rate = 0;
      int until = end;
      for (std::size_t i = 0; i < to.pieces.size(); ++i) {
        const Piece& piece = to.pieces[i];
        if (piece.service != service) continue;
        if (ready[i] > now) {
          until = std::min(until, ready[i]);
          continue;
        }
        const int kind = case_.model.sites[ix(piece.site)].kind;
        if (piece.use == kRetraining) {
          const double slots = case_.model.rates[ix(kind)][ix(service)].retraining_slots;
          if (slots > 0) rate += 1 / slots;
        } else {
          const int label = bundles.label_of[ix(kind) * variants + ix(piece.use)];
          if (label != kNoLabel) bundle = bundles.plus(bundle, label);
        }
      }
      value += advance(service, bundle, rate, now, until, state);
      now = until;
    }
    if (state_index_[ix(service)] >= 0) states_.push_back(state);
  }
  static_cast<void>(child);
  return value;
}

double OneGpuSearch::tail_of(const Label& label) const {
  double value = 0;
  for (int service = 0; ix(service) < state_index_.size(); ++service) {
    const ServiceTerms& terms = case_.problem.services[ix(service)];
    const int level = case_.bundles[ix(service)].level[ix(share_of(label, service).bundle)];
    const ModelState state = state_of(label, service);
    value += case_.served[ix(service)].tail(level, !state.is_open());
    if (state.is_open()) value += terms.retraining->progress_value * state.progress;
  }
  return value;
}

/// A label at the end of the window; `last` is a change that is not in the list of labels.
void OneGpuSearch::finish(const Label& label, int parent, const Configuration* last) {
  const double value = label.value + tail_of(label);
  if (!(value > best_value_)) return;
  best_value_ = value;
  best_changes_.clear();
  if (last != nullptr) best_changes_.push_back({.slot = label.begin, .to = *last});
  for (const Label* now = &labels_[ix(parent)]; now->parent >= 0; now = &labels_[ix(now->parent)]) {
    best_changes_.push_back({.slot = now->begin, .to = arrangements_[now->arrangement].pieces});
  }
  std::ranges::reverse(best_changes_);
}

}  // namespace berth::planner
