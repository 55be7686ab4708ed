/// Runs policies that buy commitments and compares what they cost.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "purchase/commit/coverage.h"
#include "purchase/commit/demand.h"
#include "purchase/commit/plans.h"

namespace berth::purchase {

enum class CommitPolicy { kOnDemand, kConstant, kTrailing168, kTrailing720, kWang, kOptimal, kBerth };
inline constexpr std::array<CommitPolicy, 7> kCommitPolicies = {
    CommitPolicy::kOnDemand, CommitPolicy::kConstant, CommitPolicy::kTrailing168, CommitPolicy::kTrailing720,
    CommitPolicy::kWang,     CommitPolicy::kOptimal,  CommitPolicy::kBerth};
/// Such as "trailing-168".
[[nodiscard]] std::string_view name_of(CommitPolicy policy);
/// Whether it knows the whole demand.
[[nodiscard]] bool has_hindsight(CommitPolicy policy);
/// Whether it supports these plans: the common rules require exactly one committed plan.
[[nodiscard]] bool is_possible(CommitPolicy policy, const PlanList& plans);

struct CommitScore {
  CommitPolicy policy = CommitPolicy::kBerth;
  Coverage coverage;
  CommitCost cost;
};

/// Requires: each policy is possible with the plans, which outlive the scores.
[[nodiscard]] std::vector<CommitScore> run_commit_study(const HourlyDemand& demand, const PlanList& plans,
                                                        std::span<const CommitPolicy> policies);

/// The compared results, borrowed from the caller.
struct CommitComparison {
  std::string demand_name;
  bool is_reversed = false;  ///< the hours of the demand in reverse order
  const HourlyDemand& demand;
  const PlanList& plans;
  const std::vector<CommitScore>& scores;
  const CommitScore& optimal;  ///< the least cost of all, whether or not it is among the scores
};

}  // namespace berth::purchase
