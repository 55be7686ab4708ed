#include "planner/one_gpu/detail/labels.h"

#include <algorithm>
#include <limits>

#include "base/core/ensure.h"
#include "planner/one_gpu/detail/change_times.h"
#include "planner/one_gpu/detail/service_bound.h"
#include "planner/one_gpu/detail/service_run.h"

namespace berth::planner {

Labels::Labels(const GpuCase& gpu_case, Arrangements& arrangements) : case_(gpu_case), arrangements_(arrangements) {
  for (const ServiceTerms& terms : gpu_case.problem.services) {
    model_place_.push_back(terms.retraining ? models_count_++ : -1);
    budget_place_.push_back(terms.changes_max >= 0 ? budgets_count_++ : -1);
  }
  make_root();
}

/// The standing pieces, until the first slot in which a change may begin.
void Labels::make_root() {
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
    models_.push_back(state);
  }
  changed_.assign(ix(budgets_count_), 0);
  const Mark at_slot_0 = mark();
  root_.value = run(root_, arrangement_of(root_), SlotIndex(0), case_.first_slot, ready);
  std::copy_n(models_.begin() + static_cast<std::ptrdiff_t>(at_slot_0.models), models_count_, models_.begin());
  undo(at_slot_0);
  if (!may_stay(root_, SlotIndex(0), case_.first_slot)) root_.value = kNever;
}

void Labels::restart() {
  labels_.assign(1, root_);
  undo({.models = ix(models_count_), .changed = ix(budgets_count_)});
  labels_.front().bound = std::numeric_limits<double>::infinity();
  // Waiting must not change the states of the root itself.
  labels_.front().models = models_.size();
  for (int i = 0; i < models_count_; ++i) models_.push_back(models_[ix(i)]);
}

bool Labels::has_changed_more(const Label& a, const Label& b) const {
  for (int i = 0; i < budgets_count_; ++i) {
    if (changed_[a.changed + ix(i)] > changed_[b.changed + ix(i)]) return true;
  }
  return false;
}

bool Labels::may_stay(const Label& label, SlotIndex t, SlotIndex end) const {
  if (end <= t) return true;
  const Arrangement& standing = arrangement_of(label);
  return standing.can_stand && (standing.keeps_floors || end <= case_.problem.floors_from);
}

void Labels::hold(LabelIndex number, SlotIndex t) {
  Label& label = labels_[number];
  const Arrangement& arrangement = arrangement_of(label);
  for (const ServiceIndex service : indices_of<ServiceIndex>(model_place_)) {
    const int place = model_place_[service];
    ModelState none;
    ModelState& state = place < 0 ? none : models_[label.models + ix(place)];
    const ServiceRun holds{.service = service,
                           .bundle = arrangement.shares[service].bundle,
                           .progress_rate = arrangement.progress_rates[service]};
    label.value += advance(case_, holds, t, t + 1, state);
  }
}

Label Labels::stay(const Label& label, SlotIndex t, SlotIndex end) {
  const Arrangement& standing = arrangement_of(label);
  const std::vector<SlotIndex> ready(standing.pieces.size(), t);
  Label next = label;
  next.models = models_.size();
  next.value += run(label, standing, t, end, ready);
  return next;
}

std::optional<Label> Labels::change(const Label& parent, ArrangementIndex to, SlotIndex t) {
  ENSURE(to != parent.arrangement);
  const Arrangement& next = arrangements_[to];
  const Configuration& from = arrangement_of(parent).pieces;
  const ChangeTimes times = times_of_change(case_, from, next.pieces, t);
  if (times.end > case_.problem.floors_from && !next.keeps_floors) return std::nullopt;
  const Mark before = mark();
  Label child{.arrangement = to, .begin = t, .ready = times.end, .models = before.models, .changed = before.changed};
  if (!count_changed(parent, next.pieces)) {
    undo(before);
    return std::nullopt;
  }
  child.value = parent.value - price_of_change(case_, from, next.pieces) + run(parent, next, t, times.end, times.ready);
  return child;
}

LabelIndex Labels::add(const Label& label) {
  ENSURE(label.parent >= 0 && label.parent < count());
  labels_.push_back(label);
  return LabelIndex(count() - 1);
}

void Labels::undo(const Mark& mark) {
  ENSURE(mark.models <= models_.size() && mark.changed <= changed_.size());
  models_.resize(mark.models);
  changed_.resize(mark.changed);
}

/// Pushes the counts after a change. Returns whether they are within the budgets.
bool Labels::count_changed(const Label& parent, const Configuration& to) {
  const Configuration& from = arrangement_of(parent).pieces;
  const std::size_t place = changed_.size();
  for (int i = 0; i < budgets_count_; ++i) changed_.push_back(changed_[parent.changed + ix(i)]);
  const auto count = [&](const Configuration& those, const Configuration& others) {
    for (const Piece& piece : those) {
      if (piece.service == kNoService || budget_place_[piece.service] < 0) continue;
      if (standing_on(others, piece.site) != nullptr) continue;
      ++changed_[place + ix(budget_place_[piece.service])];
    }
  };
  count(to, from);
  count(from, to);
  for (const ServiceIndex service : indices_of<ServiceIndex>(budget_place_)) {
    const int budget = budget_place_[service];
    if (budget >= 0 && changed_[place + ix(budget)] > case_.problem.services[service].changes_max) return false;
  }
  return true;
}

/// Value of the slots [t, end) in which pieces become ready; pushes the states at `end`.
double Labels::run(const Label& parent, const Arrangement& to, SlotIndex t, SlotIndex end,
                   const std::vector<SlotIndex>& ready) {
  double value = 0;
  for (const ServiceIndex service : indices_of<ServiceIndex>(model_place_)) {
    ModelState state = state_of(parent, service);
    for (SlotIndex now = t; now < end;) {
      const Ready works = ready_at(to, service, now, ready);
      const SlotIndex until = std::min(end, works.until);
      const ServiceRun runs{.service = service, .bundle = works.bundle, .progress_rate = works.progress_rate};
      value += advance(case_, runs, now, until, state);
      now = until;
    }
    if (retrains(service)) models_.push_back(state);
  }
  return value;
}

/// The pieces of a service that are ready in slot t, and the slot until which no more become ready.
Labels::Ready Labels::ready_at(const Arrangement& to, ServiceIndex service, SlotIndex t,
                               const std::vector<SlotIndex>& ready) const {
  const Bundles& bundles = case_.bundles[service];
  Ready works{.until = SlotIndex(std::numeric_limits<int>::max())};
  for (std::size_t i = 0; i < to.pieces.size(); ++i) {
    const Piece& piece = to.pieces[i];
    if (piece.service != service) continue;
    if (ready[i] > t) {
      works.until = std::min(works.until, ready[i]);
      continue;
    }
    const KindIndex kind = case_.model.sites[piece.site].kind;
    if (piece.use == kRetraining) {
      const double slots = case_.model.rates[kind][service].retraining_slots;
      if (slots > 0) works.progress_rate += 1 / slots;
    } else {
      const ItemIndex item = bundles.item(kind, piece.use);
      if (item != kNoItem) works.bundle = bundles.plus(works.bundle, item);
    }
  }
  return works;
}

double Labels::tail_of(const Label& label) const {
  double value = 0;
  for (const ServiceIndex service : indices_of<ServiceIndex>(model_place_)) {
    const LevelIndex level = case_.bundles[service].level[share_of(label, service).bundle];
    const ModelState state = state_of(label, service);
    value += case_.served[service].tail(level, !state.is_open());
    if (state.is_open()) value += case_.problem.services[service].retraining->progress_value * state.progress;
  }
  return value;
}

double Labels::value_if_staying(const Label& label, SlotIndex t) const {
  double value = label.value;
  for (const ServiceIndex service : indices_of<ServiceIndex>(model_place_)) {
    const Served& served = case_.served[service];
    const LevelIndex level = case_.bundles[service].level[share_of(label, service).bundle];
    const bool is_fresh = !state_of(label, service).is_stale;
    value += served.value(level, is_fresh, t, case_.end()) + served.tail(level, is_fresh);
  }
  return value;
}

std::vector<Change> Labels::changes_of(const Label& label) const {
  std::vector<Change> changes;
  for (const Label* now = &label; now->parent >= 0; now = &labels_[now->parent]) {
    changes.push_back({.slot = now->begin, .to = arrangement_of(*now).pieces});
  }
  std::ranges::reverse(changes);
  return changes;
}

}  // namespace berth::planner
