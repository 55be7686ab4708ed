#include "planner/many_gpus/detail/bound.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "planner/many_gpus/detail/rents.h"

namespace berth::planner::fleet {
namespace {

constexpr double kSpreadLast = 0.003;
constexpr double kSpreadFade = 0.95;
constexpr int kScalings = 6;
constexpr double kGolden = 0.6180339887498949;
constexpr double kReference = 0.5;  ///< of the scaled rents
constexpr double kReferenceLeast = 0.1;
constexpr double kBudgetReference = 0.05;
constexpr double kMomentum = 0.7;
constexpr double kDamping = 1;     ///< share of the way to balanced prices
constexpr double kAstray = 3e-3;   ///< of the bound: a step that worsens it by more is undone
constexpr double kQuick = 1.5e-4;  ///< of the bound: a step that gains less reduces the softness
constexpr double kSoftnessSafe = 0.02;

constexpr double kScaleLeast = 0.03;
constexpr double kFirstStep = 1;  ///< share of Polyak's step
constexpr double kStepMost = 2;
constexpr double kLonger = 1.1;   ///< after a better bound
constexpr double kShorter = 0.7;  ///< after a number of steps without one
constexpr int kPatience = 3;

}  // namespace

PriceSearch::PriceSearch(const Terms& terms, std::vector<SlotIndex> starts)
    : frame_(terms, std::move(starts)),
      demand_(frame_),
      supply_(frame_),
      prices_(frame_.prices),
      scales_(demand_.scales()),
      slope_(frame_.prices),
      direction_(frame_.prices) {}

void PriceSearch::start_from_rents() {
  PriceRents(frame_, demand_).set_prices(prices_);
  best_prices_ = prices_;
  for (const PricePlaces& places : frame_.places) {  // cheap capacity moves in smaller steps
    for (std::size_t k = places.capacity; k < places.floor; ++k) {
      const double price_max = demand_.price_max()[k];
      const double share = price_max > 0 ? kScaleLeast + prices_[k] / price_max : 1;
      scales_[k] *= share;
      const std::size_t floor = places.floor + (k - places.capacity);
      if (floor < places.progress) scales_[floor] *= share;
    }
  }
}

double PriceSearch::value() {
  std::ranges::fill(slope_, 0);
  const double sum = demand_.value(prices_, slope_);
  taken_ = slope_;
  return sum + supply_.value(prices_, spread_, slope_);
}

double PriceSearch::proven_bound() {
  bool has_prices = false;  // of changes
  for (const ServiceIndex i : indices_of<ServiceIndex>(frame_.places)) {
    has_prices |= frame_.service_terms(i).changes_max >= 0 && best_prices_[frame_.places[idx(i)].change] > 0;
  }
  if (!has_prices) return bound_;
  prices_ = best_prices_;
  supply_.count_take_overs(TakeOvers::kCounted);
  const double proven = value();
  supply_.count_take_overs(TakeOvers::kIgnored);
  return std::max(bound_, proven);
}

void PriceSearch::run(double objective, const BoundOptions& options) {
  supply_.choose_gpus(options.gpus_max);
  prices_ = best_prices_;
  bound_ = value();
  double share = kFirstStep;
  int waited = 0;
  direction_ = slope_;
  for (int step = 0; step < options.steps; ++step) {
    spread_ = std::max(kSpreadLast, spread_ * kSpreadFade);
    if (bound_ - objective <= options.gap * std::abs(bound_)) break;
    double length = 0;
    for (std::size_t k = 0; k < prices_.size(); ++k) {
      direction_[k] += options.novelty * (slope_[k] - direction_[k]);
      length += scales_[k] * direction_[k] * direction_[k];
    }
    if (length <= 0) break;
    const double stride = share * (bound_ - objective) / length;
    for (std::size_t k = 0; k < prices_.size(); ++k) {
      prices_[k] = std::clamp(best_prices_[k] - stride * scales_[k] * direction_[k], 0.0, demand_.price_max()[k]);
    }
    const double now = value();
    if (now < bound_) {
      bound_ = now;
      best_prices_ = prices_;
      share = std::min(kStepMost, share * kLonger);
      waited = 0;
    } else if (++waited >= kPatience) {
      share *= kShorter;
      waited = 0;
    }
  }
}

/// Scales all prices by the common factor that minimises the bound (golden section; the bound is convex).
void PriceSearch::scale_rents(int gpus_max) {
  supply_.choose_gpus(gpus_max);
  const std::vector<double> rents = best_prices_;
  const auto scale = [&](double share) {
    for (std::size_t k = 0; k < prices_.size(); ++k) prices_[k] = share * rents[k];
  };
  const auto value_at = [&](double share) {
    scale(share);
    return value();
  };
  double low = 0;
  double high = 1;
  double left = 1 - kGolden;
  double right = kGolden;
  double at_left = value_at(left);
  double at_right = value_at(right);
  for (int i = 0; i < kScalings; ++i) {
    if (at_left < at_right) {
      high = right;
      right = std::exchange(left, high - kGolden * (high - low));
      at_right = std::exchange(at_left, value_at(left));
    } else {
      low = left;
      left = std::exchange(right, low + kGolden * (high - low));
      at_left = std::exchange(at_right, value_at(right));
    }
  }
  const double best = at_left < at_right ? left : right;
  scale(std::max(kReferenceLeast, kReference * best));
  set_reference();
  bound_ = value_at(best);
  best_prices_ = prices_;
}

/// Shortfalls and steps are measured relative to at least the worths at these prices.
void PriceSearch::set_reference() {
  reference_ = prices_;
  for (const ServiceIndex i : indices_of<ServiceIndex>(frame_.places)) {
    const int most = frame_.service_terms(i).changes_max;
    const std::size_t at = frame_.places[idx(i)].change;
    if (most >= 0) reference_[at] = std::max(reference_[at], kBudgetReference * scales_[at] * (most + 1));
  }
  supply_.set_reference(prices_);
}

void PriceSearch::run_balance(const BalanceOptions& options) {
  supply_.choose_gpus(options.gpus_max);
  const double fade = std::pow(options.softness_last / options.softness_first, 1.0 / std::max(1, options.steps - 1));
  double least = options.softness_last;
  spread_ = options.softness_first;
  prices_ = best_prices_;
  bound_ = value();
  std::vector<double> last = prices_;
  for (int step = 0; step < options.steps; ++step) {
    const std::vector<double> before = prices_;
    const double was = bound_;
    for (std::size_t k = 0; k < prices_.size(); ++k) {
      prices_[k] = std::clamp(prices_[k] + kMomentum * (before[k] - last[k]), 0.0, demand_.price_max()[k]);
    }
    for (const ServiceIndex i : indices_of<ServiceIndex>(frame_.places)) balance_service(i);
    last = before;
    const double now = value();
    if (now < bound_) {
      bound_ = now;
      best_prices_ = prices_;
    } else if (now > bound_ + kAstray * std::abs(bound_) && step > options.steps / 8 && least < kSoftnessSafe) {
      prices_ = last = best_prices_;  // the prices are too hard for steps of this size
      least = spread_ = std::min(kSoftnessSafe, 2 * spread_);
      value();
    }
    // While steps gain much, softness helps.
    if (bound_ > was - kQuick * std::abs(was)) spread_ = std::max(least, spread_ * fade);
  }
}

void PriceSearch::balance_service(ServiceIndex service) {
  const ServiceTerms& terms = frame_.service_terms(service);
  const PricePlaces& places = frame_.places[idx(service)];
  demand_.renew_levels(service);
  for (RungIndex w = RungIndex(terms.variants.size()) - 1; w >= 0; --w) {
    for (const BlockIndex block : Indices<BlockIndex>(frame_.blocks())) {
      if (frame_.length[block] > 0) balance_block(service, w, block);
    }
  }
  for (std::size_t block = 0; block < frame_.starts.size() && terms.retraining; ++block)
    balance_price(places.progress + block);
  if (terms.changes_max >= 0) balance_price(places.change);
}

void PriceSearch::balance_block(ServiceIndex service, RungIndex rung, BlockIndex block) {
  const ServiceTerms& terms = frame_.service_terms(service);
  const PricePlaces& places = frame_.places[idx(service)];
  const int rungs = static_cast<int>(terms.variants.size());
  const std::size_t at = frame_.capacity_at(service, rung, block);
  const std::size_t floor = places.floor + block;
  const bool has_floor = has_rate_floor(terms) && rung + 1 == rungs;
  const double supply = supply_of(at);
  double aside = has_rate_floor(terms) && rung + 1 < rungs ? prices_[floor] : 0;
  double reference = 0;
  for (const RungIndex other : Indices<RungIndex>(rungs)) {
    const std::size_t its = frame_.capacity_at(service, other, block);
    if (other >= rung) reference += reference_[its];
    if (other == rung || supply <= 0) continue;
    const std::size_t shared = frame_.capacity_at(service, std::min(rung, other), block);
    aside += std::min(1.0, supply_of(shared) / supply) * prices_[its];
  }
  BalanceBlock each{.demand = &demand_.levels(service, rung, block),
                    .outside = demand_.outside(service, rung, block),
                    .supply = supply,
                    .price = prices_[at],
                    .floor_need = has_floor ? -taken_[floor] : 0,
                    .floor_supply = has_floor ? supply_of(floor) : 0,
                    .floor_price = has_floor ? prices_[floor] : 0};
  balance(each, aside, reference, spread_);
  move_price(at, each.price);
  if (has_floor) move_price(floor, each.floor_price);
}

/// Balances a demand that is taken in full or not at all.
void PriceSearch::balance_price(std::size_t at) {
  const double wants = std::max(0.0, -taken_[at]);
  const double has = supply_of(at);
  const double growth = balanced_growth(has, wants);
  move_price(at, prices_[at] + growth * spread_ * std::max(prices_[at], reference_[at]));
}

double PriceSearch::supply_of(std::size_t at) const { return std::max(0.0, slope_[at] - taken_[at]); }

void PriceSearch::move_price(std::size_t at, double to) {
  prices_[at] = std::clamp(prices_[at] + kDamping * (to - prices_[at]), 0.0, demand_.price_max()[at]);
}

void PriceSearch::take_best_prices() {
  prices_ = best_prices_;
  supply_.fill(prices_);
}

}  // namespace berth::planner::fleet
