#include "purchase/commit/coverage.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::purchase {
namespace {

std::int64_t longest_term(const PlanList& plans) {
  std::int64_t longest = 0;
  for (const CommitPlan& plan : plans.committed) longest = std::max(longest, plan.term_hours);
  return longest;
}

}  // namespace

Coverage::Coverage(const PlanList& plans, std::int64_t hours)
    : plans_(&plans), active_(static_cast<std::size_t>(hours + longest_term(plans)), 0) {}

void Coverage::buy(const Purchase& purchase) {
  ENSURE(purchase.units > 0 && (purchases_.empty() || purchases_.back().hour <= purchase.hour));
  purchases_.push_back(purchase);
  const std::int64_t term = plans_->committed[purchase.plan].term_hours;
  for (std::int64_t hour = purchase.hour; hour < purchase.hour + term; ++hour) {
    active_[static_cast<std::size_t>(hour)] += purchase.units;
  }
}

std::int64_t Coverage::active(std::int64_t hour) const {
  return static_cast<std::size_t>(hour) < active_.size() ? active_[static_cast<std::size_t>(hour)] : 0;
}

std::int64_t Coverage::regret_micro_usd(std::int64_t hour) const {
  std::int64_t sum = 0;
  for (const Purchase& purchase : purchases_) {
    if (purchase.hour > hour) break;  // hours do not decrease
    const CommitPlan& plan = plans_->committed[purchase.plan];
    const std::int64_t hours_left = purchase.hour + plan.term_hours - (hour + 1);
    if (hours_left > 0) sum += hours_left * plan.micro_usd_per_hour * purchase.units;
  }
  return sum;
}

CommitCost cost_of(const HourlyDemand& demand, const PlanList& plans, const Coverage& coverage) {
  CommitCost cost;
  const auto hours = static_cast<std::int64_t>(demand.size());
  for (const Purchase& purchase : coverage.purchases()) {
    const CommitPlan& plan = plans.committed[purchase.plan];
    const std::int64_t hours_paid = std::min(plan.term_hours, hours - purchase.hour);
    cost.micro_usd += hours_paid * plan.micro_usd_per_hour * purchase.units;
  }
  for (std::int64_t hour = 0; hour < hours; ++hour) {
    const std::int64_t uncovered = demand[static_cast<std::size_t>(hour)] - coverage.active(hour);
    if (uncovered > 0) cost.micro_usd += uncovered * plans.on_demand_micro_usd_per_hour;
    if (uncovered < 0) cost.unused_unit_hours -= uncovered;
  }
  return cost;
}

std::vector<std::vector<std::int64_t>> active_by_plan(const PlanList& plans, const Coverage& coverage,
                                                      std::int64_t hours) {
  std::vector<std::vector<std::int64_t>> active(plans.committed.size(),
                                                std::vector<std::int64_t>(static_cast<std::size_t>(hours), 0));
  for (const Purchase& purchase : coverage.purchases()) {
    std::vector<std::int64_t>& units = active[purchase.plan];
    const std::int64_t end = std::min(hours, purchase.hour + plans.committed[purchase.plan].term_hours);
    for (std::int64_t hour = purchase.hour; hour < end; ++hour) {
      units[static_cast<std::size_t>(hour)] += purchase.units;
    }
  }
  return active;
}

std::vector<std::int64_t> hourly_micro_usd(const HourlyDemand& demand, const PlanList& plans,
                                           const Coverage& coverage) {
  const auto active = active_by_plan(plans, coverage, static_cast<std::int64_t>(demand.size()));
  std::vector<std::int64_t> cost;
  cost.reserve(demand.size());
  for (std::size_t hour = 0; hour < demand.size(); ++hour) {
    const std::int64_t uncovered = demand[hour] - coverage.active(static_cast<std::int64_t>(hour));
    std::int64_t sum = std::max<std::int64_t>(uncovered, 0) * plans.on_demand_micro_usd_per_hour;
    for (std::size_t plan = 0; plan < active.size(); ++plan) {
      sum += active[plan][hour] * plans.committed[plan].micro_usd_per_hour;
    }
    cost.push_back(sum);
  }
  return cost;
}

}  // namespace berth::purchase
