/// The judge of the decision: every workload of which measurements are known, decided as if only those on its cheapest
/// tier were, and compared with the best tier in hindsight and with simpler policies. docs/reference/tier.md states the
/// rules.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "tier/evaluate/cases.h"
#include "tier/evaluate/policy_figures.h"
#include "tier/evaluate/test_run.h"
#include "tier/evaluate/truth.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// Learns from the workloads whose group is none of `groups_left_out`.
using EstimatorMaker =
    std::function<Result<EstimateFunction>(const TierTable& table, std::span<const std::string> groups_left_out)>;

/// A policy that decides from estimates.
struct EstimatedPolicy {
  std::string name;
  EstimatorMaker make;
};

struct EvaluateCall {
  const TierTable* table = nullptr;
  std::size_t reference = 0;  ///< the tier that the targets of services are made from
  CaseSettings cases = {};
  DecisionSettings decision = {};
  /// The group that a model is left out with; a model that is not a key is left out alone.
  std::map<std::string, std::string> leave = {};
  std::vector<EstimatedPolicy> estimated = {};     ///< not empty; the first is ours
  std::function<bool(double done)> progress = {};  ///< with the done part, from 0 to 1; false: stop
};

struct PolicyRuns {
  std::string policy;
  std::vector<TestRun> runs;  ///< by case
};

struct Evaluation {
  std::vector<TierCase> cases;
  std::vector<CaseTruth> truths;     ///< by case
  std::vector<PolicyRuns> policies;  ///< ours, cheapest, biggest, step-up, the other estimated ones
};

/// Makes each estimator once per set of models that are left out together. Errors: no workload counts (without a file's
/// name), those of the makers, and kInterrupted if `progress` stops it.
[[nodiscard]] Result<Evaluation> evaluate(const EvaluateCall& call);

}  // namespace berth::tier
