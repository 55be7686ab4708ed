// The choice is the cheapest of the sure tiers, counted once more, and each reported change holds when it is applied.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
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

/// The nearer the target is to what a tier can do, the less sure it is.
TierEstimate estimate_of(const DrawnTier& drawn, TierKind kind, const TierTarget& target) {
  const double margin = kind == TierKind::kServices ? 0.45 * target.latency_ms.to_double() / drawn.latency_ms
                                                    : drawn.per_second / std::max(target.per_second.to_double(), 1e-9);
  const double sureness = 1 / (1 + std::exp(-8 * (std::log(margin) - drawn.caution + 0.3)));
  return {.per_second = drawn.per_second,
          .per_second_p10 = drawn.per_second * 0.8,
          .per_second_p90 = drawn.per_second * 1.2,
          .latency_ms = drawn.latency_ms,
          .probability = sureness};
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

double plain_cost(const ChooseCall& call, const TierOutlook& outlook, std::size_t tier) {
  if (!outlook.per_second || outlook.per_second->median <= 0) return std::numeric_limits<double>::infinity();
  const double price = call.tiers[tier].usd_per_hour.to_double();
  if (call.kind == TierKind::kJobs) return price / outlook.per_second->median;
  return price * std::ceil(call.target.per_second.to_double() / outlook.per_second->median - 1e-9);
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
  const auto choice = choose_tier(call, call.target, outlooks_at(call, call.target), prices_of(call.tiers));
  return choice ? std::optional(choice->tier) : std::nullopt;
}

/// A value nearer to where the change begins, by a thousandth of itself, not beyond the beginning.
Decimal with_a_tenth_of_a_percent_less(const TierChange& change) {
  const Decimal step = change.to * Decimal(1, 1000);
  if (change.to > change.from) return std::max(change.from, change.to - step);
  return std::min(change.from, change.to + step);
}

RC_GTEST_PROP(TierChoice, IsTheCheapestTierThatIsSureEnough, ()) {
  const ChooseCall call = drawn_call();
  const auto outlooks = outlooks_at(call, call.target);
  const auto choice = choose_tier(call, call.target, outlooks, prices_of(call.tiers));
  double least = std::numeric_limits<double>::infinity();
  double most_probable = 0;
  for (std::size_t i = 0; i < outlooks.size(); ++i) {
    if (outlooks[i].excluded || outlooks[i].is_known_miss()) continue;
    most_probable = std::max(most_probable, *outlooks[i].probability);
    if (*outlooks[i].probability >= call.sure) least = std::min(least, plain_cost(call, outlooks[i], i));
  }
  if (!choice) return;
  RC_ASSERT(!outlooks[choice->tier].excluded);
  RC_ASSERT(choice->is_sure == std::isfinite(least));
  if (choice->is_sure) {
    RC_ASSERT(plain_cost(call, outlooks[choice->tier], choice->tier) <= least * (1 + 1e-9));
  } else {
    RC_ASSERT(*outlooks[choice->tier].probability == most_probable);
  }
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

/// The price of the chosen tier always has a limit where another tier is sure, too.
RC_GTEST_PROP(TierChanges, AreFoundWhereverTheyMustExist, ()) {
  ChooseCall call = drawn_call();
  call.rules.reset();
  const TierAnswer answer = answer_of(call);
  if (!answer.choice || !answer.choice->is_sure) return;
  for (std::size_t i = 0; i < call.tiers.size(); ++i) {
    const double probability = *answer.outlooks[i].probability;
    if (i == answer.choice->tier || probability < call.sure || !answer.outlooks[i].units) continue;
    const double ratio = plain_cost(call, answer.outlooks[i], i) /
                         plain_cost(call, answer.outlooks[answer.choice->tier], answer.choice->tier);
    if (ratio > 500) continue;
    RC_ASSERT(std::ranges::any_of(
        answer.changes, [&](const TierChange& each) { return each.of == ChangeOf::kPrice && each.tier == i; }));
    RC_ASSERT(std::ranges::any_of(answer.changes, [&](const TierChange& each) {
      return each.of == ChangeOf::kPrice && each.tier == answer.choice->tier;
    }));
  }
}

}  // namespace
}  // namespace berth::tier
