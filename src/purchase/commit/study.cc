#include "purchase/commit/study.h"

#include <utility>

#include "purchase/commit/commit_rules.h"
#include "purchase/commit/forward_buyer.h"

namespace berth::purchase {
namespace {

constexpr std::array<std::string_view, kCommitPolicies.size()> kCommitNames = {
    "on-demand", "constant", "trailing-168", "trailing-720", "wang", "optimal", "berth"};
constexpr std::int64_t kWeekHours = 168;
constexpr std::int64_t kMonthHours = 720;

Coverage buy(CommitPolicy policy, const HourlyDemand& demand, const PlanList& plans) {
  switch (policy) {
    case CommitPolicy::kOnDemand:
      break;
    case CommitPolicy::kConstant:
      return buy_constant(demand, plans);
    case CommitPolicy::kTrailing168:
      return buy_trailing(demand, plans, kWeekHours);
    case CommitPolicy::kTrailing720:
      return buy_trailing(demand, plans, kMonthHours);
    case CommitPolicy::kWang:
      return buy_at_break_even(demand, plans);
    case CommitPolicy::kOptimal:
      return cheapest_purchases(demand, plans);
    case CommitPolicy::kBerth:
      return buy_forward(demand, plans);
  }
  return {plans, static_cast<std::int64_t>(demand.size())};
}

}  // namespace

std::string_view name_of(CommitPolicy policy) { return kCommitNames[static_cast<std::size_t>(policy)]; }

bool has_hindsight(CommitPolicy policy) {
  return policy == CommitPolicy::kConstant || policy == CommitPolicy::kOptimal;
}

bool is_possible(CommitPolicy policy, const PlanList& plans) {
  const bool knows_any_plans =
      policy == CommitPolicy::kOnDemand || policy == CommitPolicy::kOptimal || policy == CommitPolicy::kBerth;
  return knows_any_plans || plans.committed.size() == 1;
}

std::vector<CommitScore> run_commit_study(const HourlyDemand& demand, const PlanList& plans,
                                          std::span<const CommitPolicy> policies) {
  std::vector<CommitScore> scores;
  scores.reserve(policies.size());
  for (const CommitPolicy policy : policies) {
    Coverage coverage = buy(policy, demand, plans);
    const CommitCost cost = cost_of(demand, plans, coverage);
    scores.push_back({.policy = policy, .coverage = std::move(coverage), .cost = cost});
  }
  return scores;
}

}  // namespace berth::purchase
