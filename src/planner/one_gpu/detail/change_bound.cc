#include "planner/one_gpu/detail/change_bound.h"

#include <algorithm>
#include <array>

#include "base/core/ensure.h"
#include "planner/one_gpu/detail/incumbent.h"
#include "planner/one_gpu/detail/joint_bound.h"
#include "planner/one_gpu/detail/label_bound.h"
#include "planner/one_gpu/detail/price_bound.h"
#include "planner/one_gpu/detail/service_run.h"

namespace berth::planner {

ChangeBound::ChangeBound(const GpuCase& gpu_case, const Arrangements& arrangements, const Labels& labels,
                         LabelBound& bound, const Incumbent& incumbent)
    : case_(gpu_case), arrangements_(arrangements), labels_(labels), bound_(bound), incumbent_(incumbent) {
  const Problem& problem = gpu_case.problem;
  ENSURE(ix(gpu_case.rooms.kinds()) <= kKindsMax);
  double longest = 0;
  for (const KindIndex kind : Indices<KindIndex>(gpu_case.rooms.kinds())) {
    longest = std::max(longest, create_seconds_of(problem, gpu_case.model, kind));
  }
  const auto create_matters = [&](double start) {
    return slots_of_seconds(problem.plumbing_seconds + start + longest) >
           slots_of_seconds(problem.plumbing_seconds + start);
  };
  create_matters_ = create_matters(0);
  for (const ServiceTerms& terms : problem.services) {
    create_matters_ = create_matters_ || create_matters(terms.start_seconds);
  }
}

double ChangeBound::of(LabelIndex label, SlotIndex t, const std::vector<Share>& shares) {
  return of(label, t, shares, arrangements_.most_kept(labels_.arrangement_of(labels_[label]), shares));
}

double ChangeBound::of(LabelIndex label, SlotIndex t, const std::vector<Share>& shares,
                       const std::vector<Share>& kept) {
  ENSURE(shares.size() == case_.bundles.size() && kept.size() == shares.size());
  const Wish wish{.label = label, .slot = t, .shares = shares, .kept = kept};
  const KindSet creates = kinds_to_create(wish);
  if (!create_matters_) return with_kept(wish, creates).value;
  // If nothing has to be created, keeping fewer pieces is no better than keeping all of them.
  const WithKept most = with_kept(wish, {});
  if (!most.gets_done && !(most.value > incumbent_.cutoff())) return most.value;
  const double bound = with_kept(wish, creates).value;
  return of_fewer(wish, creates & kinds_to_begin(wish), bound);
}

/// The kinds of which no standing piece could be given to another service, so that each new piece must be created.
ChangeBound::KindSet ChangeBound::kinds_to_create(const Wish& wish) const {
  const Rooms& rooms = case_.rooms;
  std::array<int, kKindsMax> left{};
  for (const Piece& piece : labels_.arrangement_of(labels_[wish.label]).pieces) {
    ++left[case_.model.sites[piece.site].kind];
  }
  for (const ServiceIndex service : indices_of<ServiceIndex>(wish.kept)) {
    const Share& kept = wish.kept[service];
    const RoomIndex room = case_.bundles[service].room[kept.bundle];
    for (const KindIndex kind : Indices<KindIndex>(rooms.kinds())) left[kind] -= rooms.count_of(room, kind);
    if (kept.retraining_kind >= 0) --left[kept.retraining_kind];
  }
  KindSet creates;
  for (const KindIndex kind : Indices<KindIndex>(rooms.kinds())) creates[kind] = left[kind] <= 0;
  return creates;
}

/// The kinds of which new pieces are wanted.
ChangeBound::KindSet ChangeBound::kinds_to_begin(const Wish& wish) const {
  KindSet begins;
  for (const ServiceIndex service : indices_of<ServiceIndex>(wish.shares)) {
    const Bundles& bundles = case_.bundles[service];
    const Share& now = wish.shares[service];
    const Share& kept = wish.kept[service];
    for (const ItemIndex item : indices_of<ItemIndex>(bundles.items)) {
      if (bundles.count_of(now.bundle, item) > bundles.count_of(kept.bundle, item)) {
        begins.set(ix(bundles.items[item].kind));
      }
    }
    const KindIndex kind = now.retraining_kind;
    if (kind >= 0 && kind != kept.retraining_kind) begins.set(ix(kind));
  }
  return begins;
}

/// The maximum of a bound and of the bounds with one kept piece of a useful kind less.
double ChangeBound::of_fewer(const Wish& wish, const KindSet& useful, double bound) {
  std::vector<Share> fewer = wish.kept;
  for (const ServiceIndex service : indices_of<ServiceIndex>(wish.shares)) {
    const Bundles& bundles = case_.bundles[service];
    const Share kept = wish.kept[service];
    for (const ItemIndex item : indices_of<ItemIndex>(bundles.items)) {
      if (bundles.count_of(kept.bundle, item) == 0 || !useful[bundles.items[item].kind]) continue;
      fewer[service].bundle = bundles.minus(kept.bundle, item);
      bound = std::max(bound, of(wish.label, wish.slot, wish.shares, fewer));
      fewer[service] = kept;
    }
    if (kept.retraining_kind >= 0 && useful[kept.retraining_kind]) {
      fewer[service].retraining_kind = kNoKind;
      bound = std::max(bound, of(wish.label, wish.slot, wish.shares, fewer));
      fewer[service] = kept;
    }
  }
  return bound;
}

ChangeBound::WithKept ChangeBound::with_kept(const Wish& wish, const KindSet& creates) {
  const Label& label = labels_[wish.label];
  const SlotIndex end = set_times(wish, creates);
  double served = label.value;
  double alone = bound_.has_prices() ? bound_.prices().income(end) : 0;
  bool gets_done = false;
  models_.clear();
  for (const ServiceIndex service : indices_of<ServiceIndex>(wish.shares)) {
    ModelState state = labels_.state_of(label, service);
    const bool was_open = state.is_open();
    run_until(wish, service, end, state, served);
    if (was_open && !state.is_open()) {
      gets_done = true;
      // The new piece may be ready later than assumed here, and which of the two is better is unknown.
      if (times_[service].trains_from > wish.slot) return {.value = label.bound, .gets_done = true};
    }
    if (may_lose_by_done(wish, service, was_open, end, state)) return {.value = label.bound, .gets_done = true};
    if (bound_.has_prices()) alone += bound_.prices().from(service, end, wish.shares[service].bundle, state);
    models_.push_back(state);
  }
  if (!bound_.has_joint()) return {.value = served + alone, .gets_done = gets_done};
  if (bound_.has_prices() && !(served + alone > incumbent_.cutoff())) {
    return {.value = served + alone, .gets_done = gets_done};
  }
  const double together = joint_from(wish, end);
  return {.value = served + (bound_.has_prices() ? std::min(alone, together) : together), .gets_done = gets_done};
}

/// Whether a retraining that is completed by `end` may be worth less than one that is not: a piece that retrains here
/// need not exist by then.
bool ChangeBound::may_lose_by_done(const Wish& wish, ServiceIndex service, bool was_open, SlotIndex end,
                                   const ModelState& state) const {
  if (case_.loses_by_done[service] == 0) return false;
  if (wish.shares[service].retraining_kind < 0 && case_.standing_progress[service] <= 0) return false;
  if (was_open && !state.is_open()) return true;
  return case_.is_due_within(service, wish.slot, end);
}

/// Sets when each service's pieces are ready; returns the slot in which all are.
SlotIndex ChangeBound::set_times(const Wish& wish, const KindSet& creates) {
  const Problem& problem = case_.problem;
  const SlotIndex t = wish.slot;
  const auto ready_at = [&](KindIndex kind, double start) {
    const double create = creates[kind] ? create_seconds_of(problem, case_.model, kind) : 0;
    return t + slots_of_seconds(problem.plumbing_seconds + start + create);
  };
  times_.assign(wish.shares.size(), {.serves_from = t, .trains_from = t});
  SlotIndex end = t;
  for (const ServiceIndex service : indices_of<ServiceIndex>(wish.shares)) {
    const Share& now = wish.shares[service];
    const Share& kept = wish.kept[service];
    if (now.bundle != kept.bundle) {
      const Bundles& bundles = case_.bundles[service];
      SlotIndex soonest = case_.end();
      for (const ItemIndex item : indices_of<ItemIndex>(bundles.items)) {
        if (bundles.count_of(now.bundle, item) <= bundles.count_of(kept.bundle, item)) continue;
        const SlotIndex ready = ready_at(bundles.items[item].kind, problem.services[service].start_seconds);
        soonest = std::min(soonest, ready);
        end = std::max(end, ready);
      }
      times_[service].serves_from = soonest;
    }
    if (now.retraining_kind != kept.retraining_kind) {
      times_[service].trains_from = ready_at(now.retraining_kind, 0);
      end = std::max(end, times_[service].trains_from);
    }
  }
  return case_.capped(end);
}

/// Adds the value of a service until all pieces are ready.
void ChangeBound::run_until(const Wish& wish, ServiceIndex service, SlotIndex end, ModelState& state,
                            double& served) const {
  const Share& now = wish.shares[service];
  const auto [serves_from, trains_from] = times_[service];
  const double standing = case_.standing_progress[service];
  double rate = standing;
  if (now.retraining_kind >= 0) rate += case_.progress_rate(service, now.retraining_kind);
  for (SlotIndex at = wish.slot; at < end;) {
    const bool serves = at >= serves_from;
    const bool is_training = at >= trains_from;
    SlotIndex until = end;
    if (!serves) until = std::min(until, serves_from);
    if (!is_training) until = std::min(until, trains_from);
    const ServiceRun runs{.service = service,
                          .bundle = serves ? now.bundle : wish.kept[service].bundle,
                          .progress_rate = is_training ? rate : standing};
    served += advance(case_, runs, at, until, state);
    at = until;
  }
}

/// The joint bound from the slot in which all pieces are ready.
double ChangeBound::joint_from(const Wish& wish, SlotIndex end) {
  bundles_.clear();
  for (const Share& share : wish.shares) bundles_.push_back(share.bundle);
  const auto retrains = [](const Share& share) { return share.retraining_kind >= 0; };
  const bool has_spare =
      labels_.arrangement_of(labels_[wish.label]).has_spare || std::ranges::any_of(wish.shares, retrains);
  return bound_.joint().from(end, bound_.joint().state_of(bundles_), models_, has_spare);
}

}  // namespace berth::planner
