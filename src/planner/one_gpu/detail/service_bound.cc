#include "planner/one_gpu/detail/service_bound.h"

#include <algorithm>
#include <cmath>

namespace berth::planner {

ServiceBound::ServiceBound(const GpuCase& gpu_case, ServiceIndex service)
    : case_(gpu_case),
      terms_(gpu_case.problem.services[service]),
      bundles_(gpu_case.bundles[service]),
      service_(service),
      end_(gpu_case.end()),
      first_(gpu_case.first_slot),
      floors_from_(gpu_case.problem.floors_from),
      count_(bundles_.count()) {
  const std::size_t size = ix(count_) * ix(end_ + 1);
  for (const BundleIndex bundle : Indices<BundleIndex>(count_)) {
    keeps_floor_.push_back(gpu_case.keeps_floor(service, bundles_.rate[bundle]) ? 1 : 0);
  }
  if (terms_.retraining) {
    keeps_unfinished_ = terms_.retraining->keeps_unfinished;
    dues_ = terms_.retraining->due_slots;
  }
  for (SlotIndex t(0); t <= end_; ++t) {
    epoch_.emplace_back(std::ranges::upper_bound(dues_, t) - dues_.begin());
  }
  list_neighbours();
  never_.assign(ix(count_), kNever);
  set_factors(factors_);
  price_of_progress_.resize(ix(end_ + 1));
  const Served& served = gpu_case.served[service];
  if (retrains()) base_before_.resize(size);
  for (const BundleIndex bundle : Indices<BundleIndex>(count_)) {
    const LevelIndex level = bundles_.level[bundle];
    const double* stale = served.prefix(level, false);
    double fresh = 0;
    for (SlotIndex t(0); t <= end_; ++t) {
      const std::size_t place = ix(t) * ix(count_) + ix(bundle);
      sums_[kFresh][place] = fresh;
      if (retrains()) base_before_[place] = stale[t];
      if (t < end_) fresh += gpu_case.value_when_done(service, level, t);
    }
  }
  if (!retrains()) return;
  at_due_.resize(ix(count_) * ix(epochs()));
  find_earliest_done();
}

void ServiceBound::list_neighbours() {
  const int items = static_cast<int>(bundles_.items.size());
  more_begin_.push_back(0);
  less_begin_.push_back(0);
  for (const BundleIndex bundle : Indices<BundleIndex>(count_)) {
    for (const ItemIndex item : Indices<ItemIndex>(items)) {
      const BundleIndex more = bundles_.plus(bundle, item);
      const BundleIndex less = bundles_.minus(bundle, item);
      if (more != kNoBundle) more_.push_back(more);
      if (less != kNoBundle) less_.push_back(less);
    }
    more_begin_.push_back(static_cast<int>(more_.size()));
    less_begin_.push_back(static_cast<int>(less_.size()));
  }
}

void ServiceBound::find_earliest_done() {
  for (const KindIndex kind : Indices<KindIndex>(case_.rooms.kinds()))
    fastest_ = std::max(fastest_, case_.progress_rate(service_, kind));
  const auto done_after = [&](SlotIndex from, double progress) {
    for (SlotIndex t = from; t <= end_; ++t) {
      if (progress >= kDone) return t;
      if (t == end_) break;
      progress += fastest_ + case_.outside_progress(service_, t);
    }
    return end_ + 1;
  };
  const RetrainingTerms& terms = *terms_.retraining;
  const SlotIndex at_first =
      terms.is_stale && terms.fresh_in == 0 ? done_after(SlotIndex(0), terms.progress) : end_ + 1;
  earliest_done_.push_back(at_first);
  for (const SlotIndex due : dues_) {
    const SlotIndex anew = done_after(due, 0);
    earliest_done_.push_back(keeps_unfinished_ ? std::min(anew, earliest_done_.back()) : anew);
  }
}

void ServiceBound::set_factors(std::span<const double> factors) {
  factors_.assign(factors.begin(), factors.end());
  const std::size_t all = ix(count_) * ix(end_ + 1);
  for (PhaseIndex phase(sums_.size()); phase < phases(); ++phase) {
    sums_.emplace_back(all);
    tables_.emplace_back(ix(count_) * ix(end_ + 1 - first_));
    scratch_.emplace_back(ix(count_));
    if (phase >= kTraining) done_gain_.emplace_back(all);
  }
}

void ServiceBound::compute(const Prices& prices, const PriceSums& sums, std::span<const double> factors) {
  set_factors(factors);
  prices_ = &prices;
  price_sums_ = &sums;
  if (retrains()) add_rewards();
  compute_tail();
  for (SlotIndex t = end_ - 1; t >= first_; --t) compute_slot(t);
}

double ServiceBound::stuck_price(SlotIndex t) const {
  const bool counts = keeps_unfinished_ || epoch_[t] == epochs() - 1;
  return counts ? std::max(0.0, terms_.retraining->progress_value) : 0;
}

ServiceBound::Reward ServiceBound::best_reward(PriceBlockIndex block, BundleIndex bundle, double price) const {
  Reward best;
  for (const KindIndex k : Indices<KindIndex>(case_.rooms.kinds())) {
    const double rate = case_.progress_rate(service_, k);
    if (rate <= 0 || case_.rooms.add(bundles_.room[bundle], k) == kNoRoom) continue;
    const double reward = price * rate - prices_->of(block, k);
    if (reward > best.value) best = {.value = reward, .kind = k};
  }
  return best;
}

void ServiceBound::add_rewards() {
  const std::vector<double>& of_epoch = prices_->progress[service_];
  for (SlotIndex t(0); t <= end_; ++t) {
    price_of_progress_[t] = of_epoch[keeps_unfinished_ ? 0 : ix(epoch_[t])];
  }
  for (PhaseIndex phase = kStuck; phase < phases(); ++phase) add_reward(phase);
}

/// Sums over slots of the value served by a stale model and of the worth of progress.
void ServiceBound::add_reward(PhaseIndex phase) {
  std::vector<double> reward(ix(count_));
  std::vector<double>& sums = sums_[phase];
  const std::vector<double>& fresh = sums_[kFresh];
  std::fill_n(sums.begin(), count_, 0);
  for (SlotIndex t(0); t < end_; ++t) {
    const PriceBlockIndex block = prices_->block_of[t];
    const double price = phase == kStuck ? stuck_price(t) : price_of(phase, t);
    const bool is_new = t == 0 || block != prices_->block_of[t - 1] || is_due(t);
    for (BundleIndex n(0); n < count_ && is_new; ++n) reward[n] = best_reward(block, n, price).value;
    const double outside = case_.outside_progress(service_, t) * price;
    const std::size_t now = ix(t) * ix(count_);
    const std::size_t next = now + ix(count_);
    for (std::size_t n = 0; n < ix(count_); ++n) {
      sums[next + n] = sums[now + n] + (base_before_[next + n] - base_before_[now + n]) + reward[n] + outside;
    }
    if (phase == kStuck) continue;
    std::vector<double>& gain = done_gain_[phase - kTraining];
    for (std::size_t n = 0; n < ix(count_); ++n) {
      const double more = (sums[next + n] - sums[now + n]) - (fresh[next + n] - fresh[now + n]);
      gain[next + n] = (t == 0 ? 0 : gain[now + n]) + std::max(0.0, more);
    }
  }
}

void ServiceBound::compute_tail() {
  const Served& served = case_.served[service_];
  const double* now = price_sums_->before(end_);
  const double* end = price_sums_->before(end_ + 1);
  for (const BundleIndex n : Indices<BundleIndex>(count_)) {
    const RoomIndex room = bundles_.room[n];
    const double price = end[room] - now[room];
    table(kFresh, end_)[n] = served.tail(bundles_.level[n], true) - price;
    if (!retrains()) continue;
    table(kStuck, end_)[n] = served.tail(bundles_.level[n], false) - price;
    for (PhaseIndex phase = kTraining; phase < phases(); ++phase) {
      const double done = price_of(phase, end_) * kDone;
      table(phase, end_)[n] = end_ >= earliest_done_.back() ? table(kFresh, end_)[n] - done : kNever;
    }
  }
}

const double* ServiceBound::entering(SlotIndex t, PhaseIndex phase) const {
  if (!is_due(t)) return table(phase, t);
  if (phase == kFresh) return at_due_.data() + ix(epoch_[t]) * ix(count_);
  if (keeps_unfinished_) return table(phase, t);
  return phase >= kTraining ? never_.data() : at_due_.data() + ix(epoch_[t]) * ix(count_);
}

void ServiceBound::compute_slot(SlotIndex t) {
  for (const PhaseIndex phase : Indices<PhaseIndex>(phases())) {
    const double* now = sums(phase, t);
    const double* next = sums(phase, t + 1);
    const double* price_now = price_sums_->before(t);
    const double* price_next = price_sums_->before(t + 1);
    const double* later = entering(t + 1, phase);
    double* values = table(phase, t);
    for (const BundleIndex n : Indices<BundleIndex>(count_)) {
      const RoomIndex room = bundles_.room[n];
      values[n] = holds_floor(t, n) ? (next[n] - now[n]) - (price_next[room] - price_now[room]) + later[n] : kNever;
    }
  }
  if (case_.can_change(t)) {
    if (case_.start_slots[service_] == 0) {
      add_free_changes(t);
    } else {
      add_changes(t);
    }
  }
  if (!retrains()) return;
  const double* fresh = table(kFresh, t);
  for (PhaseIndex phase = kTraining; phase < phases() && t >= earliest_done_[epoch_[t]]; ++phase) {
    const double done = price_of(phase, t) * kDone;
    double* training = table(phase, t);
    for (const BundleIndex n : Indices<BundleIndex>(count_)) training[n] = std::max(training[n], fresh[n] - done);
  }
  if (!is_due(t)) return;
  double* at_due = at_due_.data() + ix(epoch_[t]) * ix(count_);
  for (const BundleIndex n : Indices<BundleIndex>(count_)) {
    double training = table(kTraining, t)[n];
    for (PhaseIndex phase = kTraining + 1; phase < phases(); ++phase) training = std::min(training, table(phase, t)[n]);
    at_due[n] = std::max(table(kStuck, t)[n], training);
  }
}

/// If a change costs nothing, every bundle is worth as much as the best one.
void ServiceBound::add_free_changes(SlotIndex t) {
  for (const PhaseIndex phase : Indices<PhaseIndex>(phases())) {
    double* values = table(phase, t);
    std::fill_n(values, count_, *std::max_element(values, values + count_));
  }
}

double ServiceBound::done_within(PhaseIndex phase, SlotIndex from, SlotIndex to, BundleIndex n) const {
  if (to < earliest_done_[epoch_[from]]) return kNever;
  const std::vector<double>& gain = done_gain_[phase - kTraining];
  return sums(kFresh, to)[n] - sums(kFresh, from)[n] +
         (gain[ix(to) * ix(count_) + ix(n)] - gain[ix(from) * ix(count_) + ix(n)]) - price_of(phase, from) * kDone;
}

/// The value from a due slot on, stale and without progress, in phase b at the end.
double ServiceBound::after_due(PhaseIndex b, SlotIndex due, SlotIndex end, BundleIndex n) const {
  if (epoch_[end - 1] != epoch_[due]) {
    // Another retraining is due: sum everything that may have a value.
    double sum = 0;
    for (const PhaseIndex each : {kFresh, kStuck, kTraining}) sum += sums(each, end)[n] - sums(each, due)[n];
    return sum;
  }
  // One training phase is enough for a bound.
  if (b > kTraining) return kNever;
  if (b == kFresh) return done_within(kTraining, due, end, n);
  return sums(b, end)[n] - sums(b, due)[n];
}

/// The largest value of a bundle in [t, end), from phase a to phase b.
double ServiceBound::window(PhaseIndex a, PhaseIndex b, SlotIndex t, SlotIndex end, BundleIndex n) const {
  const auto plain = [&](PhaseIndex phase, SlotIndex from, SlotIndex to) {
    return sums(phase, to)[n] - sums(phase, from)[n];
  };
  if (epoch_[t] == epoch_[end - 1]) {
    if (a == b) return plain(a, t, end);
    return a >= kTraining && b == kFresh ? done_within(a, t, end, n) : kNever;
  }
  const SlotIndex due = dues_[epoch_[t]];
  if (a == kFresh) return plain(a, t, due) + after_due(b, due, end, n);
  if (!keeps_unfinished_) {
    const double before = a == kStuck ? plain(a, t, due) : done_within(a, t, due, n);
    return before + after_due(b, due, end, n);
  }
  if (a == kStuck) return b == a ? plain(a, t, end) : kNever;
  const double anew = done_within(a, t, due, n) + after_due(b, due, end, n);
  if (b == a) return std::max(anew, plain(a, t, end));
  if (b == kFresh) return std::max(anew, plain(a, t, due) + done_within(a, due, end, n));
  return anew;
}

void ServiceBound::add_changes(SlotIndex t) {
  const SlotIndex end = std::min(t + case_.start_slots[service_], end_);
  const double* price_now = price_sums_->before(t);
  const double* price_end = price_sums_->before(end);
  const bool binds = end > floors_from_;
  for (const PhaseIndex phase : Indices<PhaseIndex>(phases())) {
    double* best = scratch_[phase].data();
    const double* later = entering(end, phase);
    for (BundleIndex n(count_ - 1); n >= 0; --n) {
      const RoomIndex room = bundles_.room[n];
      double value = binds && keeps_floor_[n] == 0 ? kNever : later[n] - (price_end[room] - price_now[room]);
      for (int i = more_begin_[n]; i < more_begin_[n + 1]; ++i) value = std::max(value, best[more_[i]]);
      best[n] = value;
    }
  }
  const bool is_plain = epoch_[t] == epoch_[end - 1];
  for (const PhaseIndex a : Indices<PhaseIndex>(phases())) {
    double* values = table(a, t);
    for (const BundleIndex n : Indices<BundleIndex>(count_)) {
      double value = values[n];
      if (is_plain) {
        value = std::max(value, sums(a, end)[n] - sums(a, t)[n] + scratch_[a][n]);
        if (a >= kTraining) value = std::max(value, done_within(a, t, end, n) + scratch_[kFresh][n]);
      } else {
        for (const PhaseIndex b : Indices<PhaseIndex>(phases())) {
          value = std::max(value, window(a, b, t, end, n) + scratch_[b][n]);
        }
      }
      for (int i = less_begin_[n]; i < less_begin_[n + 1]; ++i) value = std::max(value, values[less_[i]]);
      values[n] = value;
    }
  }
}

double ServiceBound::from_stale(SlotIndex t, BundleIndex bundle, double progress) const {
  const double stuck = table(kStuck, t)[bundle] + stuck_price(t) * progress;
  if (!may_get_done(t, progress)) return stuck;
  double training = std::numeric_limits<double>::infinity();
  for (PhaseIndex phase = kTraining; phase < phases(); ++phase) {
    training = std::min(training, table(phase, t)[bundle] + price_of(phase, t) * progress);
  }
  return std::max(stuck, training);
}

bool ServiceBound::may_get_done(SlotIndex t, double progress) const {
  // Progress completed at the end of the last slot before a due one comes too late.
  const int last = epoch_end(t);
  const bool has_outside = !terms_.outside_progress.empty() || case_.standing_progress[service_] > 0;
  return has_outside || progress + (last - t) * fastest_ >= kDone;
}

double ServiceBound::best_factor(EpochIndex epoch, BundleIndex bundle, double progress) const {
  const SlotIndex t = epoch == 0 ? first_ : std::max(first_, dues_[epoch - 1]);
  const double stuck = table(kStuck, t)[bundle] + stuck_price(t) * progress;
  PhaseIndex best = kTraining;
  double least = std::numeric_limits<double>::infinity();
  for (PhaseIndex phase = kTraining; phase < phases(); ++phase) {
    const double value = std::max(stuck, table(phase, t)[bundle] + price_of(phase, t) * progress);
    if (value >= least - kSameValue * std::abs(least)) continue;
    least = value;
    best = phase;
  }
  return factors_[best - kTraining];
}

PhaseIndex ServiceBound::phase_of_stale(SlotIndex t, BundleIndex bundle, double progress) const {
  const double stuck = table(kStuck, t)[bundle] + stuck_price(t) * progress;
  return from_stale(t, bundle, progress) > stuck ? kTraining : kStuck;
}

}  // namespace berth::planner
