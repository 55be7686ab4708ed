#include "purchase/commit/forward_buyer.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace berth::purchase {
namespace {

constexpr std::int64_t kRecentHours = 72;
constexpr std::int64_t kTrendHours = 336;
/// A trend over this many hours is weighted by half.
constexpr double kTrendDoubtHours = 168;
/// A plan whose term exceeds this multiple of the record is too uncertain, unless it is the shortest.
constexpr std::int64_t kTermPerRecord = 5;
/// Hours of a term at which demand is sampled, evenly spaced.
constexpr int kLooks = 32;

/// The slope of the least-squares line through the last hours, in units per hour; 0 if it rises. Short records count
/// less.
double falling_trend(const HourlyDemand& demand, std::int64_t now) {
  const std::int64_t count = std::min(now, kTrendHours);
  const auto n = static_cast<double>(count);
  const double middle = (n - 1) / 2;
  double covariance = 0;
  double variance = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(i) - middle;
    covariance += x * static_cast<double>(demand[static_cast<std::size_t>(now - count + i)]);
    variance += x * x;
  }
  if (variance == 0) return 0;
  return std::min(0.0, covariance / variance * n / (n + kTrendDoubtHours));
}

/// The demand known at an hour.
class Outlook {
 public:
  Outlook(const HourlyDemand& demand, std::int64_t now)
      : now_(now),
        recent_(demand.begin() + std::max<std::int64_t>(0, now - kRecentHours), demand.begin() + now),
        trend_(falling_trend(demand, now)) {
    std::sort(recent_.begin(), recent_.end());
  }

  /// The share of the recent hours in which a unit above `units` was needed.
  [[nodiscard]] double share_now(std::int64_t units) const { return share_above(static_cast<double>(units)); }

  /// The share of a term from now on in which a unit is needed in addition to the active ones and `others`.
  [[nodiscard]] double share_over_term(const Coverage& coverage, std::int64_t others, std::int64_t term) const {
    double sum = 0;
    for (int look = 0; look < kLooks; ++look) {
      const std::int64_t ahead = term * look / kLooks;
      const std::int64_t units = coverage.active(now_ + ahead) + others;
      sum += share_above(static_cast<double>(units) - trend_ * static_cast<double>(ahead));
    }
    return sum / kLooks;
  }

 private:
  [[nodiscard]] double share_above(double units) const {
    const auto above = std::upper_bound(recent_.begin(), recent_.end(), units, [](double limit, std::int64_t value) {
      return limit < static_cast<double>(value);
    });
    return static_cast<double>(recent_.end() - above) / static_cast<double>(recent_.size());
  }

  std::int64_t now_;
  std::vector<std::int64_t> recent_;  ///< ascending
  double trend_;
};

/// Requires: a committed plan.
std::int64_t shortest_term(const PlanList& plans) {
  return std::min_element(plans.committed.begin(), plans.committed.end(),
                          [](const CommitPlan& a, const CommitPlan& b) { return a.term_hours < b.term_hours; })
      ->term_hours;
}

/// The plan to buy a further unit of; nothing if none is worthwhile.
std::optional<std::size_t> best_plan(const Outlook& outlook, const Coverage& coverage, const PlanList& plans,
                                     std::int64_t now, std::int64_t others) {
  const auto price = static_cast<double>(plans.on_demand_micro_usd_per_hour);
  const double now_saved = outlook.share_now(coverage.active(now) + others) * price;
  if (now_saved <= 0) return std::nullopt;
  const std::int64_t shortest = shortest_term(plans);
  std::optional<std::size_t> best;
  double best_saving = 0;
  for (std::size_t i = 0; i < plans.committed.size(); ++i) {
    const CommitPlan& plan = plans.committed[i];
    const auto cost = static_cast<double>(plan.micro_usd_per_hour);
    const bool is_too_long = plan.term_hours > std::max(shortest, now * kTermPerRecord);
    if (now_saved < cost || is_too_long) continue;
    const double saving = outlook.share_over_term(coverage, others, plan.term_hours) * price - cost;
    if (saving < 0 || (best && saving <= best_saving)) continue;
    best = i;
    best_saving = saving;
  }
  return best;
}

}  // namespace

Coverage buy_forward(const HourlyDemand& demand, const PlanList& plans) {
  Coverage coverage(plans, static_cast<std::int64_t>(demand.size()));
  if (plans.committed.empty()) return coverage;
  std::vector<std::int64_t> bought(plans.committed.size());
  for (std::int64_t now = 1; now < static_cast<std::int64_t>(demand.size()); ++now) {
    const Outlook outlook(demand, now);
    std::fill(bought.begin(), bought.end(), 0);
    std::int64_t others = 0;
    for (auto plan = best_plan(outlook, coverage, plans, now, 0); plan;
         plan = best_plan(outlook, coverage, plans, now, others)) {
      ++bought[*plan];
      ++others;
    }
    for (std::size_t plan = 0; plan < bought.size(); ++plan) {
      if (bought[plan] > 0) coverage.buy({.hour = now, .plan = plan, .units = bought[plan]});
    }
  }
  return coverage;
}

}  // namespace berth::purchase
