#include "tier/choose/choose.h"

#include <limits>
#include <memory>
#include <numeric>

#include "base/core/sort_stably.h"
#include "tier/rules/apply_rules.h"

namespace berth::tier {
namespace {

/// What is believed, as `decide` wants it: the costs at this price.
TierEstimate estimate_at_price(const TierProspect& prospect, const Decimal& price) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double usd = price.to_double();
  TierEstimate estimate{.is_measured = prospect.is_measured,
                        .per_second = prospect.per_second->median,
                        .per_second_p10 = prospect.per_second->p10,
                        .per_second_p90 = prospect.per_second->p90,
                        .latency_ms = prospect.latency_ms.value_or(0),
                        .probability = prospect.probability.value_or(0),
                        .cost = prospect.units ? (price * *prospect.units).to_double() : kInfinity,
                        .cost_mean = prospect.units_mean ? usd * *prospect.units_mean : kInfinity,
                        .costs = prospect.units_drawn};
  for (double& cost : estimate.costs) cost *= usd;
  return estimate;
}

/// The tiers of which something is known, by price: `decide` takes them in this order.
std::vector<std::size_t> known_by_price(std::span<const TierProspect> prospects, std::span<const Decimal> prices) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < prospects.size(); ++i) {
    if (prospects[i].per_second) order.push_back(i);
  }
  sort_stably(order, [&](std::size_t tier) { return prices[tier]; });
  return order;
}

std::optional<TierChoice> choice_by_rules(const ChooseCall& call, const TierTarget& target,
                                          std::span<const TierProspect> prospects) {
  if (!call.rules) return std::nullopt;
  std::vector<bool> may_take;
  for (const TierProspect& prospect : prospects) may_take.push_back(!prospect.excluded && !prospect.is_known_miss());
  const auto chosen =
      choose_by_rules(*call.rules, rule_facts(call.known.graph, call.kind, target), call.tiers, may_take);
  if (!chosen) return std::nullopt;
  return TierChoice{.tier = chosen->tier,
                    .by = ChosenBy::kRule,
                    .rule = chosen->rule,
                    .is_sure = prospects[chosen->tier].probability.value_or(0) >= call.sure};
}

}  // namespace

std::optional<Decision> decide_at(const ChooseCall& call, const TierTarget& target,
                                  std::span<const TierProspect> prospects, std::span<const Decimal> prices,
                                  int measurements_left) {
  const std::vector<std::size_t> order = known_by_price(prospects, prices);
  TierTable table{.kind = call.kind};
  std::vector<TierEstimate> estimates;
  const auto allowed = std::make_unique<bool[]>(order.size());
  bool is_any_allowed = false;
  for (std::size_t i = 0; i < order.size(); ++i) {
    table.tiers.push_back(call.tiers[order[i]]);
    table.tiers.back().usd_per_hour = prices[order[i]];
    estimates.push_back(estimate_at_price(prospects[order[i]], prices[order[i]]));
    allowed[i] = !prospects[order[i]].excluded;
    is_any_allowed = is_any_allowed || allowed[i];
  }
  if (!is_any_allowed) return std::nullopt;
  Decision decision = decide({.table = &table,
                              .known = &call.known,
                              .estimates = estimates,
                              .target = target,
                              .measurements_left = measurements_left,
                              .sure = call.sure,
                              .allowed = {allowed.get(), order.size()}});
  decision.take = order[decision.take];
  if (decision.measure) decision.measure = order[*decision.measure];
  return decision;
}

std::optional<TierChoice> choose_tier(const ChooseCall& call, const TierTarget& target,
                                      std::span<const TierProspect> prospects, std::span<const Decimal> prices) {
  if (!call.estimate_at) {
    if (auto choice = choice_by_rules(call, target, prospects)) return choice;
  }
  const auto decision = decide_at(call, target, prospects, prices, 0);
  if (!decision) return std::nullopt;
  return TierChoice{.tier = decision->take, .is_sure = decision->probability >= call.sure};
}

std::vector<Decimal> prices_of(std::span<const Tier> tiers) {
  std::vector<Decimal> prices;
  prices.reserve(tiers.size());
  for (const Tier& tier : tiers) prices.push_back(tier.usd_per_hour);
  return prices;
}

}  // namespace berth::tier
