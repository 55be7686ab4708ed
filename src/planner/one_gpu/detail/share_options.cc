#include "planner/one_gpu/detail/share_options.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"
#include "planner/one_gpu/detail/label_bound.h"
#include "planner/one_gpu/detail/price_bound.h"
#include "planner/one_gpu/detail/service_run.h"

namespace berth::planner {

void ShareOptions::restart() {
  known_.resize(case_.bundles.size());
  for (const ServiceIndex service : indices_of<ServiceIndex>(known_)) {
    known_[service].of_bundle.assign(ix(case_.bundles[service].count()), {});
  }
}

const std::vector<ShareOption>& ShareOptions::of(const Label& label, ServiceIndex service, SlotIndex t, double slack) {
  ENSURE(bound_.has_prices() && ix(service) < known_.size());
  KnownOptions& known = known_[service];
  if (labels_.retrains(service)) {
    fill(label, service, t, slack, known.latest);
    return known.latest;
  }
  Known& same = known.of_bundle[labels_.share_of(label, service).bundle];
  if (same.slot == t && same.slack >= slack) return same.options;
  same.slot = t;
  same.slack = slack;
  fill(label, service, t, slack, same.options);
  return same.options;
}

RoomIndex ShareOptions::room_of(ServiceIndex service, const Share& share) const {
  const RoomIndex room = case_.bundles[service].room[share.bundle];
  return share.retraining_kind < 0 ? room : case_.rooms.add(room, share.retraining_kind);
}

/// Whether progress may still count.
bool ShareOptions::can_train(const Label& label, ServiceIndex service, SlotIndex t) const {
  const ServiceTerms& terms = case_.problem.services[service];
  if (!terms.retraining || terms.retrains_elsewhere) return false;
  const bool is_due_later = !terms.retraining->due_slots.empty() && terms.retraining->due_slots.back() > t;
  return is_due_later || labels_.state_of(label, service).is_open();
}

void ShareOptions::fill(const Label& label, ServiceIndex service, SlotIndex t, double slack,
                        std::vector<ShareOption>& options) const {
  const Share share = labels_.share_of(label, service);
  const double now = bound_.prices().from(service, t, share.bundle, labels_.state_of(label, service));
  options.clear();
  options.push_back({.share = share, .room = room_of(service, share), .loss = 0});
  const bool may_train = can_train(label, service, t);
  const int kinds = case_.problem.services[service].retraining ? case_.rooms.kinds() : 0;
  for (const BundleIndex bundle : Indices<BundleIndex>(case_.bundles[service].count())) {
    for (KindIndex kind = kNoKind; kind < kinds; ++kind) {
      const bool trains_anew = kind >= 0 && kind != share.retraining_kind;
      if (trains_anew && (!may_train || case_.progress_rate(service, kind) <= 0)) continue;
      const Share wanted{.bundle = bundle, .retraining_kind = kind};
      if (wanted == share) continue;
      const RoomIndex room = room_of(service, wanted);
      if (room == kNoRoom) continue;
      const double loss = now - value_with(label, service, wanted, t);
      if (!(loss < slack)) continue;
      options.push_back({.share = wanted, .room = room, .loss = loss});
    }
  }
  std::ranges::sort(options.begin() + 1, options.end(), [](const ShareOption& a, const ShareOption& b) {
    if (a.loss != b.loss) return a.loss < b.loss;
    return std::pair(a.share.bundle, a.share.retraining_kind) < std::pair(b.share.bundle, b.share.retraining_kind);
  });
}

double ShareOptions::value_with(const Label& label, ServiceIndex service, const Share& share, SlotIndex t) const {
  const Bundles& bundles = case_.bundles[service];
  const PriceBound& prices = bound_.prices();
  const Share old = labels_.share_of(label, service);
  const BundleIndex common = bundles.common_part(old.bundle, share.bundle);
  const bool is_new = common != share.bundle;
  const bool trains_anew = share.retraining_kind >= 0 && share.retraining_kind != old.retraining_kind;
  SlotIndex end = t;
  if (trains_anew) end = case_.capped(t + case_.retraining_start_slots);
  if (is_new) end = case_.capped(t + case_.start_slots[service]);
  ModelState state = labels_.state_of(label, service);
  if (end == t) return prices.from(service, t, share.bundle, state);
  if (end > case_.problem.floors_from && !case_.keeps_floor(service, bundles.rate[share.bundle])) return kNever;
  double rate = 0;
  if (share.retraining_kind >= 0) rate = case_.progress_rate(service, share.retraining_kind);
  rate += case_.standing_progress[service];
  const bool was_open = state.is_open();
  const double now = prices.from(service, t, old.bundle, state);
  double value = 0;
  const SlotIndex trains_from = trains_anew ? std::min(end, t + case_.retraining_start_slots) : t;
  value += advance(case_, {.service = service, .bundle = common, .progress_rate = 0}, t, trains_from, state);
  value += advance(case_, {.service = service, .bundle = common, .progress_rate = rate}, trains_from, end, state);
  // Whether completing it sooner is better cannot be decided here.
  if (was_open && !state.is_open()) return now;
  const bool makes_progress = share.retraining_kind >= 0 || case_.standing_progress[service] > 0;
  if (makes_progress && case_.loses_by_done[service] != 0 && case_.is_due_within(service, t, end)) return now;
  const RoomIndex room = room_of(service, share);
  const PriceSums& sums = prices.sums();
  return value - (sums.before(end)[room] - sums.before(t)[room]) + prices.from(service, end, share.bundle, state);
}

}  // namespace berth::planner
