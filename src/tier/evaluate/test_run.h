/// One policy in one case: what it measured, and what it chose.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "tier/decide/decide.h"
#include "tier/estimate/estimator.h"
#include "tier/evaluate/cases.h"
#include "tier/evaluate/truth.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

struct TestRun {
  std::vector<std::size_t> measured = {};  ///< tiers in the order in which they were named
  std::size_t chosen = 0;
  std::optional<double> probability = {};  ///< stated, of keeping the target; absent: the policy states none
};

/// What is believed of each tier (by index), of a workload of which only some rows are known.
using EstimateFunction = std::function<std::vector<TierEstimate>(const TierWorkload& known, const TierTarget& target)>;

using DecideFunction = std::function<Decision(const DecideCall& call)>;

struct DecisionSettings {
  DecideFunction decide;     ///< names a tier to measure only while measurements are left, and none that is known
  int measurements_max = 0;  ///< >= 0
  double sure = 0.9;         ///< in [0, 1]
};

/// Estimates and decides, until a tier is taken. Known are the rows on the anchor and on the tiers that
/// were measured.
[[nodiscard]] TestRun run_decision(const TierTable& table, const TierCase& of, const CaseTruth& truth,
                                   const EstimateFunction& estimate, const DecisionSettings& settings);

/// The anchor.
[[nodiscard]] TestRun run_cheapest(const CaseTruth& truth);
/// The tier of the highest price.
[[nodiscard]] TestRun run_biggest(const CaseTruth& truth);
/// Measures the next tiers by price after the anchor: of these and the anchor the first by price that keeps the target,
/// else the next one by price, else the last.
[[nodiscard]] TestRun run_step_up(const CaseTruth& truth, int measurements);

}  // namespace berth::tier
