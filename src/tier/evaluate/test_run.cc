#include "tier/evaluate/test_run.h"

#include <algorithm>
#include <memory>
#include <span>

#include "base/core/ensure.h"

namespace berth::tier {
namespace {

/// The workload as it is known at first: its rows on the anchor.
TierWorkload known_on(const TierWorkload& workload, std::size_t anchor) {
  TierWorkload known = workload;
  for (std::size_t tier = 0; tier < known.points.size(); ++tier) {
    if (tier != anchor) known.points[tier].clear();
  }
  return known;
}

}  // namespace

TestRun run_decision(const TierTable& table, const TierCase& of, const CaseTruth& truth,
                     const EstimateFunction& estimate, const DecisionSettings& settings) {
  const TierWorkload& workload = table.workloads[of.workload];
  const std::size_t tier_count = table.tiers.size();
  const auto allowed = std::make_unique<bool[]>(tier_count);
  for (std::size_t tier = 0; tier < tier_count; ++tier) allowed[tier] = truth.has(tier);
  TierWorkload known = known_on(workload, truth.anchor);
  TestRun run;
  while (true) {
    const std::vector<TierEstimate> estimates = estimate(known, of.target);
    const int left = settings.measurements_max - static_cast<int>(run.measured.size());
    const Decision decision = settings.decide({.table = &table,
                                               .known = &known,
                                               .estimates = estimates,
                                               .target = of.target,
                                               .measurements_left = left,
                                               .sure = settings.sure,
                                               .allowed = std::span<const bool>(allowed.get(), tier_count)});
    if (!decision.measure) {
      ENSURE(truth.has(decision.take));
      run.chosen = decision.take;
      run.probability = decision.probability;
      return run;
    }
    ENSURE(left > 0 && truth.has(*decision.measure) && known.points[*decision.measure].empty());
    known.points[*decision.measure] = workload.points[*decision.measure];
    run.measured.push_back(*decision.measure);
  }
}

TestRun run_cheapest(const CaseTruth& truth) { return {.chosen = truth.anchor}; }

TestRun run_biggest(const CaseTruth& truth) { return {.chosen = truth.candidates().back()}; }

TestRun run_step_up(const CaseTruth& truth, int measurements) {
  const std::vector<std::size_t> tiers = truth.candidates();
  const std::size_t known_count = std::min(tiers.size(), static_cast<std::size_t>(measurements) + 1);
  const auto known_end = tiers.begin() + static_cast<std::ptrdiff_t>(known_count);
  const auto kept = std::find_if(tiers.begin(), known_end, [&](std::size_t tier) { return truth.keeps(tier); });
  TestRun run{.measured = std::vector(tiers.begin() + 1, known_end)};
  if (kept != known_end) {
    run.chosen = *kept;
  } else {
    run.chosen = known_end == tiers.end() ? tiers.back() : *known_end;
  }
  return run;
}

}  // namespace berth::tier
