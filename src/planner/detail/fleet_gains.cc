#include "planner/detail/fleet_gains.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace berth::planner::fleet {
namespace {

constexpr int kFirstSlots = 12;
constexpr double kBestKinds = 0.9;  ///< of a service's best share on any kind: kinds that it keeps in any case

}  // namespace

GainTables::GainTables(const Terms& terms, int stride)
    : terms_(&terms),
      stamps_(terms.problem.services.size()),
      freshness_(terms.problem.services.size()),
      gains_(terms.problem.models.size()),
      candidates_(terms.problem.models.size()) {
  for (int slot = 0; slot < terms.slots;) {  // what begins at once becomes ready in the first slots
    const int end = slot < kFirstSlots ? slot + 1 : std::min(slot + stride, terms.slots);
    runs_.push_back({.begin = slot, .end = end});
    slot = end;
  }
  for (std::size_t m = 0; m < gains_.size(); ++m) {
    const std::vector<std::vector<Rates>>& rates = terms.problem.models[m].rates;
    gains_[m].resize(rates.size());
    candidates_[m].resize(rates.size());
    for (std::size_t kind = 0; kind < rates.size(); ++kind) {
      for (std::size_t i = 0; i < rates[kind].size(); ++i) {
        const std::vector<double>& each = rates[kind][i].requests_per_second;
        gains_[m][kind].emplace_back(each.size());
        for (std::size_t use = 0; use < each.size(); ++use) {
          if (each[use] > 0) candidates_[m][kind].emplace_back(static_cast<int>(i), static_cast<int>(use));
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
  const auto price = [&](const std::pair<int, int>& each) {
    const std::vector<double>& slots = caps_->serving[idx(each.first)][idx(each.second)];
    const std::vector<double>& floor = caps_->floor[idx(each.first)];
    return std::accumulate(slots.begin(), slots.end(), 0.0) + std::accumulate(floor.begin(), floor.end(), 0.0);
  };
  std::vector<double> best_share(terms_->problem.services.size(), 0);
  std::vector<std::vector<std::vector<double>>> shares(candidates_.size());
  for (std::size_t m = 0; m < candidates_.size(); ++m) {
    for (std::size_t kind = 0; kind < candidates_[m].size(); ++kind) {
      std::vector<double>& of_kind = shares[m].emplace_back();
      double best = 0;
      for (const auto& each : candidates_[m][kind]) {
        const Rates& rates = terms_->rates(static_cast<int>(m), static_cast<int>(kind), each.first);
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
  for (std::size_t m = 0; m < candidates_.size(); ++m) {
    for (std::size_t kind = 0; kind < candidates_[m].size(); ++kind) {
      std::size_t i = 0;
      std::erase_if(candidates_[m][kind], [&](const auto& each) {
        return shares[m][kind][i++] < std::min(share, kBestKinds * best_share[idx(each.first)]);
      });
    }
  }
}

std::vector<int> GainTables::note_changes(FleetState& state) {
  std::vector<int> touched = state.take_touched();
  for (const int service : touched) {
    stamps_[idx(service)] = ++clock_;
    freshness_[idx(service)].reset();
  }
  return touched;
}

void GainTables::forget(const std::vector<int>& services) {
  for (const int service : services) stamps_[idx(service)] = ++clock_;
}

const Freshness& GainTables::freshness(const FleetState& state, int service) {
  std::optional<Freshness>& known = freshness_[idx(service)];
  if (!known) known = freshness_of(*terms_, service, state.service(service).progress);
  return *known;
}

std::vector<Offer> GainTables::offers_of(const FleetState& state, int model, int kind, int service,
                                         const std::vector<OwnCapacity>& own) {
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

const Gain& GainTables::gain(const FleetState& state, int model, int kind, int service, int use,
                             const std::vector<OwnCapacity>& own) {
  Gain& gain = gains_[idx(model)][idx(kind)][idx(service)][idx(use)];
  const auto found = std::ranges::find(own, service, &OwnCapacity::service);
  const OwnCapacity* its_own = found == own.end() ? nullptr : &*found;
  if (gain.stamp == stamps_[idx(service)]) return gain;
  const double rate = terms_->rates(model, kind, service).requests_per_second[idx(use)];
  compute(state, service, use, rate, its_own, gain);
  if (terms_->problem.services[idx(service)].floor_rate > 0) compute_floor(state, service, use, rate, its_own, gain);
  gain.stamp = stamps_[idx(service)];
  return gain;
}

/// Worth of a second (of the whole tail) of one request a second more, where `rate` more come together, half of them
/// below what is given on average.
double GainTables::slope(const FleetState& state, int service, int use, int slot, double rate, double given) {
  const std::size_t variants = terms_->problem.services[idx(service)].variants.size();
  const double* now = state.service(service).capacity.data() + idx(slot) * variants;
  const bool is_tail = slot == terms_->slots;
  const Freshness& fresh = freshness(state, service);
  const double fresh_seconds = is_tail ? fresh.tail_fresh_seconds : fresh.is_fresh[idx(slot)];
  const double stale_seconds = is_tail ? terms_->problem.tail_seconds - fresh_seconds : 1 - fresh_seconds;
  const double begin = now[use] + std::max(0.0, given - rate / 2);
  const double end = begin + rate;
  double worth = 0;
  if (variants == 1) {
    const double step = fresh_seconds * terms_->fresh[idx(service)].step[0] +
                        (stale_seconds > 0 ? stale_seconds * terms_->stale[idx(service)].step[0] : 0);
    worth = step * (terms_->served(service, slot, end) - terms_->served(service, slot, begin));
  } else {
    low_.assign(now, now + variants);
    high_ = low_;
    low_[idx(use)] = begin;
    high_[idx(use)] = end;
    for (const bool is_fresh : {true, false}) {
      const double seconds = is_fresh ? fresh_seconds : stale_seconds;
      if (seconds <= 0) continue;
      worth += seconds * (terms_->worth(service, slot, is_fresh, high_.data()) -
                          terms_->worth(service, slot, is_fresh, low_.data()));
    }
  }
  return worth / rate;
}

void GainTables::compute(const FleetState& state, int service, int use, double rate, const OwnCapacity* own,
                         Gain& gain) {
  const std::size_t variants = terms_->problem.services[idx(service)].variants.size();
  gain.ready.resize(idx(terms_->slots) + 2);
  gain.ready[0] = 0;
  const auto worth_of_slot = [&](int slot) {
    const double given = own == nullptr ? 0 : own->capacity[idx(slot) * variants + idx(use)];
    double each = slope(state, service, use, slot, rate, given);
    if (caps_) each = std::min(each, caps_->serving[idx(service)][idx(use)][idx(slot)]);
    return each * rate;
  };
  for (const Run& run : runs_) {
    const double worth = worth_of_slot((run.begin + run.end) / 2);
    for (int slot = run.begin; slot < run.end; ++slot) gain.ready[idx(slot) + 1] = gain.ready[idx(slot)] + worth;
  }
  gain.ready.back() = gain.ready[idx(terms_->slots)] + worth_of_slot(terms_->slots);
}

void GainTables::compute_floor(const FleetState& state, int service, int use, double rate, const OwnCapacity* own,
                               Gain& gain) {
  const ServiceTerms& terms = terms_->problem.services[idx(service)];
  const ServiceState& now = state.service(service);
  gain.stands.resize(idx(terms_->slots) + 2);
  gain.stands[0] = 0;
  for (const Run& run : runs_) {
    double worth = 0;
    const int slot = (run.begin + run.end) / 2;
    if (slot >= terms_->problem.floors_from) {
      const double given = own == nullptr ? 0 : own->capacity[idx(slot) * terms.variants.size() + idx(use)];
      const double lacks = terms.floor_rate - now.standing[idx(slot)] - std::max(0.0, given - rate / 2);
      worth = std::clamp(lacks, 0.0, rate) / terms.floor_rate * terms_->shortfall_price;
      if (caps_) worth = std::min(worth, rate * caps_->floor[idx(service)][idx(slot)]);
    }
    for (int each = run.begin; each < run.end; ++each) gain.stands[idx(each) + 1] = gain.stands[idx(each)] + worth;
  }
  gain.stands.back() = gain.stands[idx(terms_->slots)];
}

}  // namespace berth::planner::fleet
