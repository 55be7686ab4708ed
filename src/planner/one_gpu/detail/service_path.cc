#include "planner/one_gpu/detail/service_path.h"

#include <algorithm>
#include <cmath>

namespace berth::planner {

void ServicePath::trace(bool is_fresh, double progress, BundleIndex bundle, Usage& use) const {
  Position now{.t = of_.first_, .phase = kFresh, .bundle = bundle};
  if (!is_fresh) now.phase = of_.phase_of_stale(of_.first_, bundle, progress);
  if (now.phase == kTraining) use.progress[of_.epoch_for_price(of_.first_)] += progress;
  while (now.t < of_.end_) {
    const double value = of_.table(now.phase, now.t)[now.bundle];
    if (value == kNever) return;
    const double slack = ServiceBound::kSameValue * (1 + std::abs(value));
    if (now.phase == kTraining && now.t >= of_.earliest_done_[of_.epoch_[now.t]] &&
        of_.table(kFresh, now.t)[now.bundle] - of_.price_of_progress_[now.t] * kDone >= value - slack) {
      use.progress[of_.epoch_for_price(now.t)] -= kDone;
      now.phase = kFresh;
      continue;
    }
    if (trace_hold(now, value - slack, use) || trace_change(now, value - slack, use)) continue;
    if (!trace_drop(now, value - slack)) return;
  }
  if (now.phase == kTraining) use.progress[of_.epoch_for_price(of_.end_)] -= kDone;
  add_use(now.bundle, of_.end_, of_.end_ + 1, use);
}

void ServicePath::add_use(BundleIndex bundle, SlotIndex from, SlotIndex to, Usage& use) const {
  const RoomIndex room = of_.bundles_.room[bundle];
  for (SlotIndex t = from; t < to; ++t) {
    const std::size_t block = ix(of_.prices_->block_of[t]);
    const double seconds = t < of_.end_ ? 1 : of_.prices_->seconds[block];
    for (const KindIndex kind : Indices<KindIndex>(of_.prices_->kinds)) {
      use.kinds[block * ix(of_.prices_->kinds) + ix(kind)] += seconds * of_.case_.rooms.count_of(room, kind);
    }
  }
}

void ServicePath::add_training(PhaseIndex phase, BundleIndex bundle, SlotIndex from, SlotIndex to, Usage& use) const {
  if (phase == kFresh) return;
  for (SlotIndex t = from; t < to; ++t) {
    const double price = phase == kStuck ? of_.stuck_price(t) : of_.price_of_progress_[t];
    const KindIndex kind = of_.best_reward(of_.prices_->block_of[t], bundle, price).kind;
    if (kind >= 0) use.kinds[ix(of_.prices_->block_of[t]) * ix(of_.prices_->kinds) + ix(kind)] += 1;
    if (phase != kTraining) continue;
    const double made = kind >= 0 ? of_.case_.progress_rate(of_.service_, kind) : 0;
    use.progress[of_.epoch_for_price(t)] += made + of_.case_.outside_progress(of_.service_, t);
  }
}

bool ServicePath::trace_hold(Position& now, double wanted, Usage& use) const {
  const RoomIndex room = of_.bundles_.room[now.bundle];
  const double price = of_.price_sums_->before(now.t + 1)[room] - of_.price_sums_->before(now.t)[room];
  const double value = of_.sums(now.phase, now.t + 1)[now.bundle] - of_.sums(now.phase, now.t)[now.bundle] - price +
                       of_.entering(now.t + 1, now.phase)[now.bundle];
  if (!of_.holds_floor(now.t, now.bundle) || value < wanted) return false;
  add_use(now.bundle, now.t, now.t + 1, use);
  add_training(now.phase, now.bundle, now.t, now.t + 1, use);
  enter(now, now.t + 1);
  return true;
}

/// Advances to slot t, where something may be due.
void ServicePath::enter(Position& now, SlotIndex t) const {
  now.t = t;
  if (!of_.is_due(t) || (of_.keeps_unfinished_ && now.phase != kFresh)) return;
  now.phase = of_.phase_of_stale(t, now.bundle, 0);
}

bool ServicePath::trace_change(Position& now, double wanted, Usage& use) const {
  const int start = of_.case_.start_slots[of_.service_];
  if (!of_.case_.can_change(now.t) || start == 0) return false;
  const SlotIndex end = std::min(now.t + start, of_.end_);
  for (const PhaseIndex b : Indices<PhaseIndex>(of_.phases())) {
    const double* later = of_.entering(end, b);
    for (const BundleIndex n : Indices<BundleIndex>(of_.count_)) {
      if (later[n] == kNever || (end > of_.floors_from_ && of_.keeps_floor_[n] == 0)) continue;
      const RoomIndex room = of_.bundles_.room[n];
      const double price = of_.price_sums_->before(end)[room] - of_.price_sums_->before(now.t)[room];
      const BundleIndex common = of_.bundles_.common_part(now.bundle, n);
      if (of_.window(now.phase, b, now.t, end, common) - price + later[n] < wanted) continue;
      add_use(n, now.t, end, use);
      add_training(now.phase, common, now.t, end, use);
      if (now.phase == kTraining && b == kFresh) use.progress[of_.epoch_for_price(now.t)] -= kDone;
      now.phase = b;
      now.bundle = n;
      enter(now, end);
      return true;
    }
  }
  return false;
}

bool ServicePath::trace_drop(Position& now, double wanted) const {
  if (!of_.case_.can_change(now.t)) return false;
  const double* values = of_.table(now.phase, now.t);
  const bool is_free = of_.case_.start_slots[of_.service_] == 0;
  if (is_free) return trace_free(now, wanted);
  for (const ItemIndex item : indices_of<ItemIndex>(of_.bundles_.items)) {
    const BundleIndex less = of_.bundles_.minus(now.bundle, item);
    if (less == kNoBundle || values[less] < wanted) continue;
    now.bundle = less;
    return true;
  }
  return false;
}

/// Moves to the bundle that a free change leads to.
bool ServicePath::trace_free(Position& now, double wanted) const {
  for (const BundleIndex n : Indices<BundleIndex>(of_.count_)) {
    Position other{.t = now.t, .phase = now.phase, .bundle = n};
    Usage unused{.kinds = std::vector<double>(of_.prices_->kind.size()),
                 .progress = std::vector<double>(ix(of_.epochs()))};
    if (n == now.bundle || !trace_hold(other, wanted, unused)) continue;
    now.bundle = n;
    return true;
  }
  return false;
}

}  // namespace berth::planner
