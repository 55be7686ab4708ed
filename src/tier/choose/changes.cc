#include "tier/choose/changes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

namespace berth::tier {
namespace {

constexpr std::size_t kPricesTriedMax = 10;
constexpr double kStepFactor = 1.2;
constexpr double kPriceFactorMax = 1000;
constexpr double kTargetFactorMax = 16;
constexpr int kHalvingsMax = 60;

/// Who wins at a value of what changes.
using WinnerAt = std::function<std::optional<TierChoice>(const Decimal&)>;

/// A decimal with few digits near the middle: within the middle half. Requires: a and b are not equal.
Decimal short_middle(const Decimal& a, const Decimal& b) {
  const double low = std::min(a, b).to_double();
  const double high = std::max(a, b).to_double();
  const double middle = low + (high - low) / 2;
  const double step = std::pow(10.0, std::floor(std::log10((high - low) / 4)));
  if (!std::isnormal(step)) return decimal_of(middle);
  return decimal_of(std::round(middle / step) * step);
}

/// A search from a value in one direction for the nearest value with another winner.
class NearestChange {
 public:
  NearestChange(Decimal from, std::size_t winner, WinnerAt winner_at)
      : from_(std::move(from)), winner_(winner), winner_at_(std::move(winner_at)) {}

  struct Found {
    Decimal to;
    TierChoice winner;
  };
  /// `factor_max` below 1: downwards.
  [[nodiscard]] std::optional<Found> search(double factor_max) const;

 private:
  /// The other winner at a value.
  [[nodiscard]] std::optional<TierChoice> other_at(const Decimal& value) const {
    auto choice = winner_at_(value);
    return choice && choice->tier != winner_ ? choice : std::nullopt;
  }
  void halve(Decimal unchanged, Found& found) const;
  [[nodiscard]] bool holds(const Found& found) const;
  [[nodiscard]] Decimal distance(const Decimal& value) const { return absolute(value - from_); }
  static Decimal absolute(const Decimal& value) { return value.sign() < 0 ? Decimal() - value : value; }

  Decimal from_;
  std::size_t winner_;
  WinnerAt winner_at_;
};

std::optional<NearestChange::Found> NearestChange::search(double factor_max) const {
  const double step = factor_max > 1 ? kStepFactor : 1 / kStepFactor;
  const int steps = static_cast<int>(std::log(factor_max) / std::log(step));
  Decimal unchanged = from_;
  for (int i = 1; i <= steps; ++i) {
    const Decimal value = decimal_of(from_.to_double() * std::pow(step, i));
    if (auto winner = other_at(value)) {
      Found found{.to = value, .winner = std::move(*winner)};
      halve(unchanged, found);
      return holds(found) ? std::optional(found) : std::nullopt;
    }
    unchanged = value;
  }
  return std::nullopt;
}

void NearestChange::halve(Decimal unchanged, Found& found) const {
  const Decimal part(4, 10'000);
  const Decimal least = absolute(from_) * Decimal(1, 1'000'000);
  for (int i = 0; i < kHalvingsMax; ++i) {
    const Decimal width = absolute(found.to - unchanged);
    if (width <= std::max(std::min(distance(found.to), absolute(found.to)) * part, least)) return;
    const Decimal middle = short_middle(found.to, unchanged);
    if (auto winner = other_at(middle)) {
      found = {.to = middle, .winner = std::move(*winner)};
    } else {
      unchanged = middle;
    }
  }
}

/// Changes too small to be told from their value by a thousandth are checked at `from` alone, where another tier wins.
bool NearestChange::holds(const Found& found) const {
  const auto wins_at = [&](const Decimal& value) {
    const auto choice = winner_at_(value);
    return choice && choice->tier == found.winner.tier;
  };
  const Decimal thousandth(1, 1000);
  const Decimal change = found.to - from_;
  if (distance(found.to) * Decimal(400) < absolute(from_)) return true;
  if (wins_at(found.to - change * thousandth)) return false;
  const Decimal nearer = absolute(found.to) * thousandth;
  return !wins_at(change.sign() > 0 ? found.to - nearer : found.to + nearer);
}

/// The sure tiers other than the chosen one, the cheapest first.
std::vector<std::size_t> tiers_near_in_cost(const ChooseCall& call, const TierChoice& choice,
                                            std::span<const TierProspect> prospects) {
  std::vector<std::pair<Decimal, std::size_t>> by_cost;
  for (std::size_t i = 0; i < prospects.size(); ++i) {
    const TierProspect& prospect = prospects[i];
    if (i == choice.tier || prospect.excluded || !prospect.units || prospect.probability.value_or(0) < call.sure)
      continue;
    by_cost.emplace_back(call.tiers[i].usd_per_hour * *prospect.units, i);
  }
  std::ranges::sort(by_cost);
  if (by_cost.size() > kPricesTriedMax) by_cost.resize(kPricesTriedMax);
  std::vector<std::size_t> tiers;
  for (const auto& [unused, tier] : by_cost) tiers.push_back(tier);
  return tiers;
}

void add_change(std::vector<TierChange>& changes, TierChange change, const std::optional<NearestChange::Found>& found) {
  if (!found) return;
  change.to = found->to;
  change.winner = found->winner.tier;
  change.is_sure = found->winner.is_sure;
  changes.push_back(std::move(change));
}

void add_price_changes(const ChooseCall& call, const TierChoice& choice, std::vector<TierChange>& changes) {
  const std::vector<TierProspect> prospects = prospects_at(call, call.target);
  const auto search = [&](std::size_t tier, double factor_max) {
    const Decimal& from = call.tiers[tier].usd_per_hour;
    const WinnerAt winner_at = [&](const Decimal& price) {
      std::vector<Decimal> prices = prices_of(call.tiers);
      prices[tier] = price;
      return choose_tier(call, call.target, prospects, prices);
    };
    add_change(changes, {.of = ChangeOf::kPrice, .tier = tier, .from = from, .to = {}},
               NearestChange(from, choice.tier, winner_at).search(factor_max));
  };
  search(choice.tier, kPriceFactorMax);
  for (const std::size_t tier : tiers_near_in_cost(call, choice, prospects)) search(tier, 1 / kPriceFactorMax);
}

void add_target_changes(const ChooseCall& call, const TierChoice& choice, ChangeOf of,
                        std::vector<TierChange>& changes) {
  const Decimal& from = of == ChangeOf::kLatency ? call.target.latency_ms : call.target.per_second;
  if (from.sign() <= 0) return;
  const std::vector<Decimal> prices = prices_of(call.tiers);
  const WinnerAt winner_at = [&](const Decimal& value) {
    TierTarget target = call.target;
    (of == ChangeOf::kLatency ? target.latency_ms : target.per_second) = value;
    return choose_tier(call, target, prospects_at(call, target), prices);
  };
  for (const double factor_max : {1 / kTargetFactorMax, kTargetFactorMax}) {
    add_change(changes, {.of = of, .from = from, .to = {}},
               NearestChange(from, choice.tier, winner_at).search(factor_max));
  }
}

}  // namespace

std::vector<TierChange> changes_of(const ChooseCall& call, const TierChoice& choice) {
  std::vector<TierChange> changes;
  add_price_changes(call, choice, changes);
  add_target_changes(call, choice, ChangeOf::kPerSecond, changes);
  if (call.kind == TierKind::kServices) add_target_changes(call, choice, ChangeOf::kLatency, changes);
  return changes;
}

}  // namespace berth::tier
