// Random beliefs: the stated rules hold, and the choice and the measurement are those of a plain count.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "tier/decide/decide.h"

namespace berth::tier {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct RandomCall {
  TierTable table;
  std::vector<TierEstimate> estimates;
  std::unique_ptr<bool[]> allowed;
  int left = 0;
  double sure = 0;
};

TierEstimate random_estimate() {
  TierEstimate estimate{.is_measured = *rc::gen::inRange(0, 3) == 0,
                        .per_second = *rc::gen::inRange(1, 50) / 1.0,
                        .probability = *rc::gen::inRange(0, 21) / 20.0};
  if (estimate.is_measured) estimate.probability = estimate.probability < 0.5 ? 0 : 1;
  estimate.cost = estimate.cost_mean = *rc::gen::inRange(1, 40) / 4.0;
  if (estimate.probability <= 0) {
    estimate.cost_mean = kNever;
  } else if (!estimate.is_measured) {
    estimate.costs = {estimate.cost_mean * 1.5, estimate.cost_mean * 0.5};
  }
  return estimate;
}

RandomCall random_call() {
  const auto count = static_cast<std::size_t>(*rc::gen::inRange(1, 6));
  RandomCall call{.table = {.kind = *rc::gen::arbitrary<bool>() ? TierKind::kJobs : TierKind::kServices},
                  .estimates = {},
                  .allowed = std::make_unique<bool[]>(count),
                  .left = *rc::gen::inRange(0, 3),
                  .sure = *rc::gen::inRange(0, 21) / 20.0};
  for (std::size_t i = 0; i < count; ++i) {
    call.estimates.push_back(random_estimate());
    call.allowed[i] = *rc::gen::inRange(0, 4) > 0;
  }
  call.allowed[static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(count)))] = true;
  return call;
}

Decision run(const RandomCall& call) {
  return decide({.table = &call.table,
                 .known = nullptr,
                 .estimates = call.estimates,
                 .target = {},
                 .measurements_left = call.left,
                 .sure = call.sure,
                 .allowed = std::span<const bool>(call.allowed.get(), call.estimates.size())});
}

RC_GTEST_PROP(Decide, KeepsTheStatedRules, ()) {
  const RandomCall call = random_call();
  const Decision decision = run(call);
  RC_ASSERT(call.allowed[decision.take]);
  const TierEstimate& taken = call.estimates[decision.take];
  RC_ASSERT(decision.probability == taken.probability);
  bool has_sure = false;
  bool all_known_to_miss = true;
  for (std::size_t i = 0; i < call.estimates.size(); ++i) {
    if (!call.allowed[i]) continue;
    const TierEstimate& estimate = call.estimates[i];
    const bool is_known_to_miss = estimate.is_measured && estimate.probability <= 0;
    has_sure = has_sure || (estimate.probability >= call.sure && !is_known_to_miss);
    all_known_to_miss = all_known_to_miss && is_known_to_miss;
  }
  if (has_sure) RC_ASSERT(taken.probability >= call.sure || taken.is_measured);
  if (taken.is_measured && taken.probability <= 0) RC_ASSERT(all_known_to_miss);
}

RC_GTEST_PROP(Decide, MeasuresOnlyWhatItMayAndWhatSaves, ()) {
  const RandomCall call = random_call();
  const Decision decision = run(call);
  if (!decision.measure) {
    RC_ASSERT(decision.saves == 0);
    return;
  }
  RC_ASSERT(call.left > 0);
  RC_ASSERT(call.allowed[*decision.measure]);
  RC_ASSERT(!call.estimates[*decision.measure].is_measured);
  RC_ASSERT(decision.saves > 0);
  RC_ASSERT(decision.saves <= decision.cost_expected);
}

/// What is known of the rest does not depend on the order in which it is asked, nor on how often.
RC_GTEST_PROP(Decide, IsAFunctionOfItsArguments, ()) {
  const RandomCall call = random_call();
  const Decision one = run(call);
  const Decision two = run(call);
  RC_ASSERT(one.take == two.take && one.measure == two.measure && one.saves == two.saves);
}

/// A tier that is cheaper in every outcome and at least as probable is not passed over for another one.
RC_GTEST_PROP(Decide, NeverTakesADominatedTier, ()) {
  const RandomCall call = random_call();
  const Decision decision = run(call);
  const TierEstimate& taken = call.estimates[decision.take];
  for (std::size_t i = 0; i < call.estimates.size(); ++i) {
    const TierEstimate& other = call.estimates[i];
    if (!call.allowed[i] || other.probability <= 0 || other.probability < taken.probability) continue;
    // Equally probable and cheaper where the target is kept: cheaper in expectation too.
    if (other.probability > taken.probability) continue;
    RC_ASSERT(!(other.cost_mean < taken.cost_mean));
  }
}

}  // namespace
}  // namespace berth::tier
