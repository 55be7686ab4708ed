#include "purchase/commit/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/core/figure_text.h"

namespace berth::purchase {
namespace {

const CommitScore* score_of_policy(const std::vector<CommitScore>& scores, CommitPolicy policy) {
  const auto it = std::ranges::find(scores, policy, &CommitScore::policy);
  return it == scores.end() ? nullptr : &*it;
}

}  // namespace

std::string commit_verdict(const CommitComparison& comparison) {
  const CommitScore* ours = score_of_policy(comparison.scores, CommitPolicy::kBerth);
  const CommitScore* on_demand = score_of_policy(comparison.scores, CommitPolicy::kOnDemand);
  if (ours == nullptr) return "";
  const auto& purchases = ours->coverage.purchases();
  if (purchases.empty()) return "Commit to nothing: by the demand seen so far no term would pay.";
  std::string text = fmt::format("Commit as berth does: {} purchase{}, {} in all", purchases.size(),
                                 purchases.size() == 1 ? "" : "s", dollars(ours->cost.micro_usd));
  if (on_demand != nullptr && on_demand->cost.micro_usd > 0) {
    const double share = 1 - static_cast<double>(ours->cost.micro_usd) / static_cast<double>(on_demand->cost.micro_usd);
    text += fmt::format(", {:.1f}% {} than {}", std::abs(share) * 100, share < 0 ? "more" : "less",
                        comparison.plans.on_demand_name);
  }
  const std::int64_t last = purchases.back().hour;
  text += fmt::format(". Behind the last one, at hour {}, {} were still to be paid if demand had stopped then.",
                      with_separators(last), dollars(ours->coverage.regret_micro_usd(last)));
  return text;
}

std::string prices_text(const PlanList& plans) {
  std::string text = fmt::format("{} an hour {}", dollars(plans.on_demand_micro_usd_per_hour), plans.on_demand_name);
  for (const CommitPlan& plan : plans.committed) {
    text +=
        fmt::format(", {} {} for {} h", dollars(plan.micro_usd_per_hour), plan.name, with_separators(plan.term_hours));
  }
  return text;
}

std::optional<std::string> ratio_text(const CommitScore& score, const CommitComparison& comparison) {
  const std::int64_t least = comparison.optimal.cost.micro_usd;
  if (least <= 0) return std::nullopt;
  return fmt::format("{:.3f}", static_cast<double>(score.cost.micro_usd) / static_cast<double>(least));
}

std::int64_t units_bought(const CommitScore& score) {
  const auto& purchases = score.coverage.purchases();
  return std::accumulate(purchases.begin(), purchases.end(), std::int64_t{0},
                         [](std::int64_t sum, const Purchase& each) { return sum + each.units; });
}

std::int64_t regret_max_micro_usd(const CommitScore& score) {
  std::int64_t most = 0;
  for (const Purchase& each : score.coverage.purchases()) {
    most = std::max(most, score.coverage.regret_micro_usd(each.hour));
  }
  return most;
}

}  // namespace berth::purchase
