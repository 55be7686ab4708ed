#include "tier/choose/choose.h"

#include "tier/rules/apply_rules.h"

namespace berth::tier {
namespace {

/// What one choice looks at.
struct ChoiceView {
  const ChooseCall& call;
  const TierTarget& target;
  std::span<const TierOutlook> outlooks;
  std::span<const Decimal> prices;

  [[nodiscard]] bool is_cheaper(std::size_t a, std::size_t b) const {
    const auto& units_a = outlooks[a].units;
    const auto& units_b = outlooks[b].units;
    if (units_a.has_value() != units_b.has_value()) return units_a.has_value();
    if (units_a) {
      const Decimal cost_a = prices[a] * *units_a;
      const Decimal cost_b = prices[b] * *units_b;
      if (!(cost_a == cost_b)) return cost_a < cost_b;
    }
    return prices[a] < prices[b];
  }
  [[nodiscard]] bool is_sure(std::size_t tier) const { return outlooks[tier].probability.value_or(0) >= call.sure; }
};

/// The best of the tiers that `may_be` accepts, by `is_better`; ties: the first.
template <class MayBe, class IsBetter>
std::optional<std::size_t> best_of(const ChoiceView& view, const MayBe& may_be, const IsBetter& is_better) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < view.outlooks.size(); ++i) {
    if (view.outlooks[i].excluded || !may_be(view.outlooks[i], i)) continue;
    if (!best || is_better(i, *best)) best = i;
  }
  return best;
}

std::optional<std::size_t> cheapest_sure(const ChoiceView& view) {
  return best_of(
      view, [&](const TierOutlook&, std::size_t tier) { return view.is_sure(tier); },
      [&](std::size_t a, std::size_t b) { return view.is_cheaper(a, b); });
}

std::optional<std::size_t> most_probable(const ChoiceView& view) {
  return best_of(
      view, [](const TierOutlook& outlook, std::size_t) { return outlook.probability && !outlook.is_known_miss(); },
      [&](std::size_t a, std::size_t b) {
        const double probability_a = *view.outlooks[a].probability;
        const double probability_b = *view.outlooks[b].probability;
        return probability_a > probability_b || (probability_a == probability_b && view.is_cheaper(a, b));
      });
}

std::optional<std::size_t> fastest(const ChoiceView& view) {
  return best_of(
      view, [](const TierOutlook& outlook, std::size_t) { return outlook.per_second.has_value(); },
      [&](std::size_t a, std::size_t b) {
        return view.outlooks[a].per_second->median > view.outlooks[b].per_second->median;
      });
}

std::optional<TierChoice> choice_by_rules(const ChoiceView& view) {
  if (!view.call.rules) return std::nullopt;
  std::vector<bool> may_take;
  for (const TierOutlook& outlook : view.outlooks) may_take.push_back(!outlook.excluded && !outlook.is_known_miss());
  const RuleFacts facts = rule_facts(view.call.known.graph, view.call.kind, view.target);
  const auto chosen = choose_by_rules(*view.call.rules, facts, view.call.tiers, may_take);
  if (!chosen) return std::nullopt;
  return TierChoice{
      .tier = chosen->tier, .by = ChosenBy::kRule, .rule = chosen->rule, .is_sure = view.is_sure(chosen->tier)};
}

std::optional<TierChoice> by_probability(const ChoiceView& view, std::optional<std::size_t> tier) {
  if (!tier) return std::nullopt;
  return TierChoice{.tier = *tier, .is_sure = view.is_sure(*tier)};
}

}  // namespace

std::optional<TierChoice> choose_tier(const ChooseCall& call, const TierTarget& target,
                                      std::span<const TierOutlook> outlooks, std::span<const Decimal> prices) {
  const ChoiceView view{.call = call, .target = target, .outlooks = outlooks, .prices = prices};
  if (!call.estimate_at) {
    if (auto choice = choice_by_rules(view)) return choice;
  }
  if (auto choice = by_probability(view, cheapest_sure(view))) return choice;
  if (auto choice = by_probability(view, most_probable(view))) return choice;
  return by_probability(view, fastest(view));
}

std::vector<Decimal> prices_of(std::span<const Tier> tiers) {
  std::vector<Decimal> prices;
  prices.reserve(tiers.size());
  for (const Tier& tier : tiers) prices.push_back(tier.usd_per_hour);
  return prices;
}

}  // namespace berth::tier
