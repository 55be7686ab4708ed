// The choice is the cheapest of the sure tiers, counted once more, and each reported change holds when it is applied.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "tier/choose/answer.h"

namespace berth::tier {
namespace {

struct DrawnTier {
  int milli_usd = 1;
  double per_second = 1;  ///< of the prediction
  double latency_ms = 1;
  double caution = 1;  ///< 0 to 1: how much better than the target it must be to be sure
};

DrawnTier drawn_tier() {
  return {.milli_usd = *rc::gen::inRange(50, 6000),
          .per_second = *rc::gen::inRange(5, 3000) * 1.037,
          .latency_ms = *rc::gen::inRange(1, 40) * 1.01,
          .caution = *rc::gen::inRange(0, 100) / 100.0};
}

/// What `decide` counts, at a price of 1: without a spread.
double plain_units(TierKind kind, double per_second, const TierTarget& target) {
  return kind == TierKind::kJobs ? 1 / per_second : std::ceil(target.per_second.to_double() / per_second - 1e-9);
}

/// The nearer the target is to what a tier can do, the less sure it is.
TierEstimate estimate_of(const DrawnTier& drawn, TierKind kind, const TierTarget& target) {
  const double margin = kind == TierKind::kServices ? 0.45 * target.latency_ms.to_double() / drawn.latency_ms
                                                    : drawn.per_second / std::max(target.per_second.to_double(), 1e-9);
  const double sureness = 1 / (1 + std::exp(-8 * (std::log(margin) - drawn.caution + 0.3)));
  return {.per_second = drawn.per_second,
          .per_second_p10 = drawn.per_second * 0.8,
          .per_second_p90 = drawn.per_second * 1.2,
          .latency_ms = drawn.latency_ms,
          .probability = sureness,
          .cost = plain_units(kind, drawn.per_second, target),
          .cost_mean = plain_units(kind, drawn.per_second, target)};
}

ChooseCall drawn_call() {
  ChooseCall call{.kind = *rc::gen::arbitrary<bool>() ? TierKind::kServices : TierKind::kJobs,
                  .tiers = {},
                  .known = {},
                  .target = {}};
  std::vector<DrawnTier> drawn;
  const int count = *rc::gen::inRange(2, 8);
  for (int i = 0; i < count; ++i) drawn.push_back(drawn_tier());
  std::ranges::sort(drawn, {}, &DrawnTier::milli_usd);
  for (int i = 0; i < count; ++i) {
    call.tiers.push_back(
        {.name = std::to_string(i), .usd_per_hour = Decimal(drawn[static_cast<std::size_t>(i)].milli_usd, 1000)});
  }
  call.known = {.group = "g", .name = "w", .points = std::vector<std::vector<TierPoint>>(call.tiers.size())};
  const auto measured = static_cast<std::size_t>(*rc::gen::inRange(0, count));
  call.known.points[measured] = {
      {.samples_per_second = decimal_of(drawn[measured].per_second),
       .latency_ms = decimal_of(call.kind == TierKind::kServices ? drawn[measured].latency_ms : 0)}};
  call.target.per_second = Decimal(*rc::gen::inRange(1, 5000));
  if (call.kind == TierKind::kServices) call.target.latency_ms = Decimal(*rc::gen::inRange(1, 200));
  if (*rc::gen::inRange(0, 3) == 0) {
    call.rules =
        TierRules{.rules = {{.name = "big rates",
                             .bounds = {{.feature = call.kind == TierKind::kServices ? RuleFeature::kRequestsPerSecond
                                                                                     : RuleFeature::kSamplesPerSecond,
                                         .at_least = Decimal(*rc::gen::inRange(1, 5000))}},
                             .tier = "0",
                             .is_exclusion = true}}};
  }
  const TierKind kind = call.kind;
  call.estimate_at = [drawn, kind](const TierTarget& target) {
    std::vector<TierEstimate> estimates;
    for (const DrawnTier& each : drawn) estimates.push_back(estimate_of(each, kind, target));
    return estimates;
  };
  return call;
}

double plain_cost(const ChooseCall& call, const TierProspect& prospect, std::size_t tier) {
  return call.tiers[tier].usd_per_hour.to_double() * plain_units(call.kind, prospect.per_second->median, call.target);
}

/// kMissCost times the cost of the fastest tier that may be taken: jobs by their median, services by price.
double cost_of_a_miss(const ChooseCall& call, std::span<const TierProspect> prospects) {
  std::optional<std::size_t> fastest;
  double most = 0;
  for (std::size_t i = 0; i < prospects.size(); ++i) {
    if (prospects[i].excluded) continue;
    if (prospects[i].units) most = std::max(most, plain_cost(call, prospects[i], i));
    const bool is_faster = !fastest || call.kind == TierKind::kServices ||
                           prospects[i].per_second->median > prospects[*fastest].per_second->median;
    if (is_faster) fastest = i;
  }
  if (!fastest) return 0;
  return kMissCost * (prospects[*fastest].units ? plain_cost(call, prospects[*fastest], *fastest) : most);
}

double expected_cost(const ChooseCall& call, const TierProspect& prospect, std::size_t tier, double miss) {
  const double probability = *prospect.probability;
  if (probability == 0) return miss;
  return probability * plain_cost(call, prospect, tier) + (1 - probability) * miss;
}

std::optional<std::size_t> winner_with(ChooseCall call, const TierChange& change, const Decimal& value) {
  switch (change.of) {
    case ChangeOf::kPrice:
      call.tiers[change.tier].usd_per_hour = value;
      break;
    case ChangeOf::kPerSecond:
      call.target.per_second = value;
      break;
    case ChangeOf::kLatency:
      call.target.latency_ms = value;
      break;
  }
  const auto choice = choose_tier(call, call.target, prospects_at(call, call.target), prices_of(call.tiers));
  return choice ? std::optional(choice->tier) : std::nullopt;
}

/// A value nearer to where the change begins, by a thousandth of itself, not beyond the beginning.
Decimal with_a_tenth_of_a_percent_less(const TierChange& change) {
  const Decimal step = change.to * Decimal(1, 1000);
  if (change.to > change.from) return std::max(change.from, change.to - step);
  return std::min(change.from, change.to + step);
}

RC_GTEST_PROP(TierChoice, IsTheLeastExpectedCostOfThoseThatAreSureEnough, ()) {
  const ChooseCall call = drawn_call();
  const auto prospects = prospects_at(call, call.target);
  const auto choice = choose_tier(call, call.target, prospects, prices_of(call.tiers));
  const double miss = cost_of_a_miss(call, prospects);
  double least_sure = std::numeric_limits<double>::infinity();
  double least_unsure = least_sure;
  for (std::size_t i = 0; i < prospects.size(); ++i) {
    if (prospects[i].excluded || prospects[i].is_known_miss()) continue;
    double& least = *prospects[i].probability >= call.sure ? least_sure : least_unsure;
    least = std::min(least, expected_cost(call, prospects[i], i, miss));
  }
  RC_ASSERT(choice.has_value() == std::ranges::any_of(prospects, [](const auto& each) { return !each.excluded; }));
  if (!choice) return;
  RC_ASSERT(!prospects[choice->tier].excluded);
  RC_ASSERT(choice->is_sure == std::isfinite(least_sure));
  if (prospects[choice->tier].is_known_miss()) RC_ASSERT(!std::isfinite(least_unsure) && !choice->is_sure);
  if (prospects[choice->tier].is_known_miss()) return;
  const double least = choice->is_sure ? least_sure : least_unsure;
  RC_ASSERT(expected_cost(call, prospects[choice->tier], choice->tier, miss) <= least * (1 + 1e-9));
}

RC_GTEST_PROP(TierChanges, WinWhereTheyAreAppliedAndNotWithATenthOfAPercentLess, ()) {
  const ChooseCall call = drawn_call();
  const TierAnswer answer = answer_of(call);
  if (!answer.choice) return;
  for (const TierChange& change : answer.changes) {
    RC_ASSERT(change.winner != answer.choice->tier);
    RC_ASSERT(winner_with(call, change, change.to) == change.winner);
    RC_ASSERT(winner_with(call, change, with_a_tenth_of_a_percent_less(change)) != change.winner);
  }
}

/// Two tiers that are surely enough: each price has a limit at which the other one wins.
RC_GTEST_PROP(TierChanges, AreFoundWhereTheyMustExist, ()) {
  ChooseCall call = drawn_call();
  call.rules.reset();
  call.estimate_at = {};
  call.tiers.resize(2);
  call.known.points.assign(2, {});
  for (std::size_t i = 0; i < 2; ++i) {
    call.known.points[i] = {{.samples_per_second = Decimal(*rc::gen::inRange(100, 3000)), .latency_ms = Decimal(1)}};
  }
  call.target = {.per_second = Decimal(*rc::gen::inRange(1, 100)), .latency_ms = Decimal(100)};
  const TierAnswer answer = answer_of(call);
  RC_ASSERT(answer.choice && answer.choice->is_sure);
  std::size_t price_changes = 0;
  for (const TierChange& change : answer.changes) price_changes += change.of == ChangeOf::kPrice ? 1U : 0U;
  RC_ASSERT(price_changes == 2U);
}

}  // namespace
}  // namespace berth::tier
