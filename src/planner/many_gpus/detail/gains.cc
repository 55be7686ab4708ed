#include "planner/many_gpus/detail/gains.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace berth::planner::fleet {
namespace {

constexpr int kFirstSlots = 12;
constexpr int kLastSlots = 4;
constexpr double kBestKinds = 0.9;  ///< of a service's best share on any kind: such kinds are always kept

/// The capacity that the GPU gives before a piece of `rate`: the average includes half of the piece.
double given_before(const OwnCapacity* own, std::size_t at, double rate) {
  if (own == nullptr) return 0;
  return own->is_sure ? own->capacity[at] : std::max(0.0, own->capacity[at] - rate / 2);
}

/// Whether another piece of the service would be one too many in each slot, with one on the GPU itself or none.
bool is_at_limit(const ServiceSupply& supply, const ServiceTerms& terms, bool has_own) {
  if (terms.slices_max < 0) return false;
  const int own = has_own ? 1 : 0;
  return std::ranges::all_of(supply.serving, [&](int count) { return count + own >= terms.slices_max; });
}

}  // namespace

GainTables::GainTables(const Terms& terms, int stride)
    : terms_(&terms),
      stamps_(terms.problem.services.size()),
      freshness_(terms.problem.services.size()),
      gains_(terms.problem.models.size()),
      candidates_(terms.problem.models.size()) {
  for (SlotIndex slot(0); slot < terms.slots;) {  // pieces that begin at once become ready in the first slots
    SlotIndex end = slot + (slot < kFirstSlots || slot >= terms.slots - kLastSlots ? 1 : stride);
    for (const SlotIndex edge : {terms.problem.floors_from, terms.tail() - kLastSlots, terms.tail()}) {
      if (slot < edge) end = std::min(end, edge);
    }
    equal_slots_.push_back({.begin = slot, .end = end});
    slot = end;
  }
  for (const ModelIndex m : indices_of<ModelIndex>(gains_)) {
    const std::vector<std::vector<Rates>>& rates = terms.problem.models[m].rates;
    gains_[m].resize(rates.size());
    candidates_[m].resize(rates.size());
    for (const KindIndex kind : indices_of<KindIndex>(rates)) {
      for (std::size_t i = 0; i < rates[kind].size(); ++i) {
        const std::vector<double>& each = rates[kind][i].requests_per_second;
        gains_[m][kind].emplace_back(each.size());
        for (std::size_t use = 0; use < each.size(); ++use) {
          if (each[use] > 0) candidates_[m][kind].emplace_back(ServiceIndex(i), static_cast<int>(use));
        }
      }
    }
  }
}

void GainTables::set_caps(std::optional<PriceCaps> caps) {
  caps_ = std::move(caps);
  for (std::int64_t& stamp : stamps_) stamp = ++clock_;
}

void GainTables::keep_candidates(double share) {
  if (!caps_) return;
  const auto price = [&](const std::pair<ServiceIndex, int>& each) {
    const std::vector<double>& slots = caps_->serving[idx(each.first)][idx(each.second)];
    const std::vector<double>& floor = caps_->floor[idx(each.first)];
    return std::accumulate(slots.begin(), slots.end(), 0.0) + std::accumulate(floor.begin(), floor.end(), 0.0);
  };
  std::vector<double> best_share(terms_->problem.services.size(), 0);
  std::vector<std::vector<std::vector<double>>> shares(candidates_.size());
  for (const ModelIndex m : indices_of<ModelIndex>(candidates_)) {
    for (const KindIndex kind : indices_of<KindIndex>(candidates_[m])) {
      std::vector<double>& of_kind = shares[m].emplace_back();
      double best = 0;
      for (const auto& each : candidates_[m][kind]) {
        const Rates& rates = terms_->rates(m, kind, each.first);
        of_kind.push_back(rates.requests_per_second[idx(each.second)] * price(each));
        best = std::max(best, of_kind.back());
      }
      for (std::size_t i = 0; i < of_kind.size(); ++i) {
        of_kind[i] = best > 0 ? of_kind[i] / best : 1;
        double& its_best = best_share[idx(candidates_[m][kind][i].first)];
        its_best = std::max(its_best, of_kind[i]);
      }
    }
  }
  for (const ModelIndex m : indices_of<ModelIndex>(candidates_)) {
    for (const KindIndex kind : indices_of<KindIndex>(candidates_[m])) {
      std::size_t i = 0;
      std::erase_if(candidates_[m][kind], [&](const auto& each) {
        return shares[m][kind][i++] < std::min(share, kBestKinds * best_share[idx(each.first)]);
      });
    }
  }
}

std::vector<ServiceIndex> GainTables::note_changes(FleetState& state) {
  std::vector<ServiceIndex> touched = state.take_touched();
  for (const ServiceIndex service : touched) {
    stamps_[idx(service)] = ++clock_;
    freshness_[idx(service)].reset();
  }
  return touched;
}

void GainTables::forget(const std::vector<ServiceIndex>& services) {
  for (const ServiceIndex service : services) stamps_[idx(service)] = ++clock_;
}

const Freshness& GainTables::freshness(const FleetState& state, ServiceIndex service) {
  std::optional<Freshness>& known = freshness_[idx(service)];
  if (!known) known = freshness_of(*terms_, service, state.service(service).progress);
  return *known;
}

std::vector<Offer> GainTables::offers_of(const FleetState& state, ModelIndex model, KindIndex kind,
                                         ServiceIndex service, const std::vector<OwnCapacity>& own) {
  const std::vector<double>& rates = terms_->rates(model, kind, service).requests_per_second;
  std::vector<Offer> offers;
  for (int use = 0; idx(use) < rates.size(); ++use) {
    if (rates[idx(use)] <= 0) continue;
    const Gain& each = gain(state, model, kind, service, use, own);
    offers.push_back({.service = service,
                      .use = use,
                      .readiness = terms_->serving[idx(service)],
                      .ready = each.ready.data(),
                      .ready_scale = 1,
                      .stands = each.stands.empty() ? nullptr : each.stands.data(),
                      .stands_scale = 1,
                      .begin_cost = 0});
  }
  return offers;
}

const Gain& GainTables::gain(const FleetState& state, ModelIndex model, KindIndex kind, ServiceIndex service, int use,
                             const std::vector<OwnCapacity>& own) {
  Gain& gain = gains_[idx(model)][idx(kind)][idx(service)][idx(use)];
  const auto found = std::ranges::find(own, service, &OwnCapacity::service);
  const OwnCapacity* its_own = found == own.end() ? nullptr : &*found;
  if (gain.stamp == stamps_[idx(service)]) return gain;
  double rate = terms_->rates(model, kind, service).requests_per_second[idx(use)];
  if (is_at_limit(state.service(service), terms_->problem.services[idx(service)], its_own != nullptr)) rate = 0;
  compute(state, service, use, rate, its_own, gain);
  if (terms_->problem.services[idx(service)].floor_rate > 0) compute_floor(state, service, use, rate, its_own, gain);
  gain.stamp = stamps_[idx(service)];
  return gain;
}

/// Worth of a piece of `rate` in each second (in the whole tail), in addition to the capacity of others and the GPU's
/// own capacity before it.
void GainTables::compute(const FleetState& state, ServiceIndex service, int use, double rate, const OwnCapacity* own,
                         Gain& gain) {
  const std::size_t variants = terms_->problem.services[idx(service)].variants.size();
  const double* capacity = state.service(service).capacity.data();
  const Freshness* fresh = nullptr;  // always
  if (terms_->problem.services[idx(service)].retraining) fresh = &freshness(state, service);
  const double* caps = caps_ ? caps_->serving[idx(service)][idx(use)].data() : nullptr;
  const auto worth_of_slot = [&](SlotIndex slot) {
    const double seconds = slot == terms_->slots ? terms_->problem.tail_seconds : 1;
    double fresh_seconds = seconds;
    if (fresh != nullptr)
      fresh_seconds = slot == terms_->slots ? fresh->tail_fresh_seconds : fresh->is_fresh[idx(slot)];
    const double* now = capacity + idx(slot) * variants;
    const double before = given_before(own, idx(slot) * variants + idx(use), rate);
    double worth = 0;
    if (fresh_seconds > 0) worth += fresh_seconds * terms_->worth_of_more(service, slot, true, now, use, before, rate);
    if (fresh_seconds < seconds) {
      worth += (seconds - fresh_seconds) * terms_->worth_of_more(service, slot, false, now, use, before, rate);
    }
    return caps == nullptr ? worth : std::min(worth, rate * caps[slot]);
  };
  gain.ready.resize(idx(terms_->slots) + 2);
  gain.ready[0] = 0;
  for (const EqualSlots& equal : equal_slots_) add_equal_slots(gain.ready, equal, worth_of_slot(equal.middle()));
  gain.ready.back() = gain.ready[idx(terms_->slots)] + worth_of_slot(terms_->tail());
}

void GainTables::compute_floor(const FleetState& state, ServiceIndex service, int use, double rate,
                               const OwnCapacity* own, Gain& gain) {
  const ServiceTerms& terms = terms_->problem.services[idx(service)];
  const double* standing = state.service(service).standing.data();
  const double price = terms_->shortfall_price / terms.floor_rate;
  const double* caps = caps_ && has_rate_floor(terms) ? caps_->floor[idx(service)].data() : nullptr;
  const double part = floor_part(terms, rate);
  const auto worth_of_slot = [&](SlotIndex slot) {
    if (slot < terms_->problem.floors_from || standing[slot] >= terms.floor_rate) return 0.0;
    const double before = floor_part(terms, given_before(own, idx(slot) * terms.variants.size() + idx(use), rate));
    const double worth = std::clamp(terms.floor_rate - standing[slot] - before, 0.0, part) * price;
    return caps == nullptr ? worth : std::min(worth, rate * caps[slot]);
  };
  const auto is_short = [&](const EqualSlots& equal) { return worth_of_slot(equal.middle()) > 0; };
  if (own == nullptr && std::ranges::none_of(equal_slots_, is_short)) {
    gain.stands.clear();
    return;
  }
  gain.stands.resize(idx(terms_->slots) + 2);
  gain.stands[0] = 0;
  for (const EqualSlots& equal : equal_slots_) add_equal_slots(gain.stands, equal, worth_of_slot(equal.middle()));
  gain.stands.back() = gain.stands[idx(terms_->slots)];
}

void GainTables::add_equal_slots(std::vector<double>& sums, const EqualSlots& equal, double worth) {
  const double before = sums[idx(equal.begin)];
  for (SlotIndex slot = equal.begin; slot < equal.end; ++slot)
    sums[idx(slot) + 1] = before + (slot + 1 - equal.begin) * worth;
}

}  // namespace berth::planner::fleet
