#include "planner/many_gpus/detail/retraining.h"

#include <algorithm>

namespace berth::planner::fleet {

RetrainingWorth::RetrainingWorth(const Terms& terms, const FleetState& state, ServiceIndex service)
    : terms_(&terms), service_(service), is_due_(idx(terms.slots) + 1), next_due_(idx(terms.slots) + 1, terms.tail()) {
  const RetrainingTerms& retraining = *terms.problem.services[idx(service)].retraining;
  const ServiceSupply& now = state.service(service);
  const std::size_t variants = terms.problem.services[idx(service)].variants.size();
  for (const SlotIndex due : retraining.due_slots) is_due_[idx(due)] = 1;
  for (SlotIndex slot = terms.tail() - 1; slot >= 0; --slot) {
    next_due_[idx(slot)] = slot + 1 < terms.slots && is_due_[idx(slot) + 1] != 0 ? slot + 1 : next_due_[idx(slot) + 1];
  }
  stale_.assign(1, 0);
  fresh_.assign(1, 0);
  for (const SlotIndex slot : Indices<SlotIndex>(terms.slots)) {
    const double* capacity = now.capacity.data() + idx(slot) * variants;
    stale_.push_back(stale_.back() + terms.worth(service, slot, false, capacity));
    fresh_.push_back(fresh_.back() + terms.worth(service, slot, true, capacity));
  }
  const double* capacity = now.capacity.data() + idx(terms.slots) * variants;
  const double each_stale = terms.worth(service, terms.tail(), false, capacity);
  const double each_fresh = terms.worth(service, terms.tail(), true, capacity);
  const double tail = terms.problem.tail_seconds;
  const double fresh_seconds = std::min(tail, retraining.tail_fresh_seconds);
  tail_stale_ = tail * each_stale;
  tail_fresh_ = fresh_seconds * each_fresh + (tail - fresh_seconds) * each_stale + retraining.fresh_value;
  progress_ = now.progress;
  ModelState model{.is_stale = retraining.is_stale,
                   .is_done = retraining.fresh_in > 0,
                   .progress = retraining.progress,
                   .fresh_from = SlotIndex(retraining.fresh_in)};
  double worth = 0;
  for (const SlotIndex slot : Indices<SlotIndex>(terms.slots + 1)) {
    models_.push_back(model);
    before_.push_back(worth);
    begin_slot(slot, model);
    if (slot == terms.slots) break;
    worth += of_slot(slot, model);
    if (model.is_stale && !model.is_done) model.progress += progress_[idx(slot)];
  }
  alone_ = worth + of_tail(model);
}

void RetrainingWorth::begin_slot(SlotIndex slot, ModelState& model) const {
  const RetrainingTerms& terms = *terms_->problem.services[idx(service_)].retraining;
  if (is_due_[idx(slot)] != 0) {
    if (!(terms.keeps_unfinished && model.is_stale && !model.is_done)) model.progress = 0;
    model.is_stale = true;
    model.is_done = false;
  }
  if (model.is_stale && !model.is_done && model.progress >= kDone) {
    model.is_done = true;
    model.fresh_from = slot + terms.swap_slots;
  }
  if (model.is_done && model.fresh_from <= slot) model.is_done = model.is_stale = false;
}

double RetrainingWorth::of_slot(SlotIndex slot, const ModelState& model) const {
  const std::vector<double>& sums = model.is_stale ? stale_ : fresh_;
  return sums[idx(slot) + 1] - sums[idx(slot)];
}

double RetrainingWorth::of_tail(const ModelState& model) const {
  if (!model.is_stale || model.is_done) return tail_fresh_;
  return tail_stale_ + terms_->problem.services[idx(service_)].retraining->progress_value * model.progress;
}

double RetrainingWorth::left_alone(SlotIndex slot, ModelState model) const {
  double worth = 0;
  while (true) {
    begin_slot(slot, model);
    if (slot >= terms_->slots) return worth + of_tail(model);
    SlotIndex next = next_due_[idx(slot)];
    if (model.is_done) next = std::min(next, model.fresh_from);
    const std::vector<double>& sums = model.is_stale ? stale_ : fresh_;
    worth += sums[idx(next)] - sums[idx(slot)];
    slot = next;
  }
}

std::vector<double> RetrainingWorth::until_points(const Grid& grid, SlotIndex ready, double rate) const {
  std::vector<double> gains(grid.width(), 0);
  if (ready >= terms_->slots || rate <= 0) return gains;
  ModelState model = models_[idx(ready)];
  double worth = before_[idx(ready)];
  std::size_t point = 0;
  while (point < grid.points.size() && grid.points[point] <= ready) ++point;
  for (SlotIndex slot = ready; slot < terms_->slots; ++slot) {
    for (; point < grid.points.size() && grid.points[point] == slot; ++point) {
      gains[point] = worth + left_alone(slot, model) - alone_;
    }
    begin_slot(slot, model);
    worth += of_slot(slot, model);
    if (model.is_stale && !model.is_done) model.progress += rate + progress_[idx(slot)];
  }
  begin_slot(terms_->tail(), model);
  gains.back() = worth + of_tail(model) - alone_;
  return gains;
}

void RetrainingWorth::fill_table(const Grid& grid, double slots_on, PieceTable& table) const {
  const std::size_t width = grid.width();
  table.uses = {{service_, kRetraining}};
  table.on_new.assign(width * width, 0);
  table.on_same.assign(width * width, 0);
  table.which_new.assign(width * width, 0);
  table.which_same.assign(width * width, 0);
  for (std::size_t a = 0; a + 1 < width; ++a) {
    const auto fill = [&](int delay, std::vector<double>& rows) {
      const std::vector<double> gains = until_points(grid, grid.points[a] + delay, 1 / slots_on);
      for (std::size_t b = a + 1; b < width; ++b) rows[a * width + b] = std::max(0.0, gains[b]);
    };
    fill(terms_->retraining.on_same_site, table.on_same);
    fill(terms_->retraining.on_new_site, table.on_new);
  }
}

}  // namespace berth::planner::fleet
