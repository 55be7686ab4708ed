#include "tier/decide/decide.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "base/core/ensure.h"

namespace berth::tier {
namespace {

/// Of the expected cost: a smaller gain is rounding.
constexpr double kGainMin = 1e-9;

/// What is believed of one tier now, or would be after a measurement.
struct Belief {
  bool is_allowed = false;
  bool is_measured = false;
  double probability = 0;
  double cost = 0;  ///< expected, with what a miss costs
};

class Decider {
 public:
  explicit Decider(const DecideCall& call);
  [[nodiscard]] Decision run() const;

 private:
  [[nodiscard]] double miss_cost() const;
  [[nodiscard]] double expected_cost(const TierEstimate& estimate) const;
  /// The costs where the target is kept, equally likely.
  [[nodiscard]] static std::vector<double> costs_of(const TierEstimate& estimate);
  [[nodiscard]] std::size_t choose(const std::vector<Belief>& beliefs) const;
  /// Of the choice that is best after this measurement.
  [[nodiscard]] double cost_after(std::size_t measured) const;
  void choose_measurement(Decision& decision) const;

  const DecideCall& call_;
  double miss_cost_ = 0;
  std::vector<Belief> beliefs_;
};

Decider::Decider(const DecideCall& call) : call_(call) {
  ENSURE(call.estimates.size() == call.allowed.size());
  ENSURE(std::find(call.allowed.begin(), call.allowed.end(), true) != call.allowed.end());
  miss_cost_ = miss_cost();
  for (std::size_t tier = 0; tier < call.estimates.size(); ++tier) {
    const TierEstimate& estimate = call.estimates[tier];
    beliefs_.push_back({.is_allowed = call.allowed[tier],
                        .is_measured = estimate.is_measured,
                        .probability = estimate.probability,
                        .cost = expected_cost(estimate)});
  }
}

double Decider::miss_cost() const {
  const TierEstimate* fastest = nullptr;
  double most = 0;
  for (std::size_t tier = 0; tier < call_.estimates.size(); ++tier) {
    if (!call_.allowed[tier]) continue;
    const TierEstimate& estimate = call_.estimates[tier];
    const bool is_faster =
        fastest == nullptr || call_.table->kind == TierKind::kServices || estimate.per_second > fastest->per_second;
    if (is_faster) fastest = &estimate;
    for (const double cost : {estimate.cost, estimate.cost_mean}) {
      if (std::isfinite(cost)) most = std::max(most, cost);
    }
  }
  // Where the fastest tier is not expected to give anything, a miss costs what the most expensive tier costs.
  return kMissCost * (std::isfinite(fastest->cost) ? fastest->cost : most);
}

std::vector<double> Decider::costs_of(const TierEstimate& estimate) {
  if (!estimate.costs.empty()) return estimate.costs;
  if (std::isfinite(estimate.cost_mean)) return {estimate.cost_mean};
  return {};
}

double Decider::expected_cost(const TierEstimate& estimate) const {
  if (!(estimate.probability > 0) || !std::isfinite(estimate.cost_mean)) return miss_cost_;
  return estimate.probability * estimate.cost_mean + (1 - estimate.probability) * miss_cost_;
}

std::size_t Decider::choose(const std::vector<Belief>& beliefs) const {
  // Classes: known to miss, unsure, sure. A choice is made within the best class that has a tier.
  const auto class_of = [&](const Belief& belief) {
    if (belief.is_measured && belief.probability <= 0) return 0;
    return belief.probability >= call_.sure ? 2 : 1;
  };
  std::size_t best = beliefs.size();
  const auto key = [&](std::size_t tier) {
    const Belief& belief = beliefs[tier];
    return std::tuple(-class_of(belief), belief.cost, -belief.probability, tier);
  };
  for (std::size_t tier = 0; tier < beliefs.size(); ++tier) {
    if (beliefs[tier].is_allowed && (best == beliefs.size() || key(tier) < key(best))) best = tier;
  }
  return best;
}

double Decider::cost_after(std::size_t measured) const {
  const TierEstimate& estimate = call_.estimates[measured];
  std::vector<Belief> beliefs = beliefs_;
  beliefs[measured].is_measured = true;
  const std::vector<double> costs = costs_of(estimate);
  const double kept = costs.empty() ? 0 : estimate.probability;
  double sum = 0;
  beliefs[measured].probability = 1;
  for (const double cost : costs) {
    beliefs[measured].cost = cost;
    sum += kept / static_cast<double>(costs.size()) * beliefs[choose(beliefs)].cost;
  }
  beliefs[measured].probability = 0;
  beliefs[measured].cost = miss_cost_;
  return sum + (1 - kept) * beliefs[choose(beliefs)].cost;
}

void Decider::choose_measurement(Decision& decision) const {
  double least = decision.cost_expected * (1 - kGainMin);
  for (std::size_t tier = 0; tier < beliefs_.size(); ++tier) {
    if (!beliefs_[tier].is_allowed || beliefs_[tier].is_measured) continue;
    const double cost = cost_after(tier);
    const bool is_equal = decision.measure && std::fabs(cost - least) <= kGainMin * least;
    if (is_equal ? tier == decision.take : cost < least) {
      least = cost;
      decision.measure = tier;
    }
  }
  if (decision.measure) decision.saves = decision.cost_expected - least;
}

Decision Decider::run() const {
  const std::size_t take = choose(beliefs_);
  Decision decision{.measure = {},
                    .take = take,
                    .probability = beliefs_[take].probability,
                    .cost_expected = beliefs_[take].cost,
                    .saves = 0};
  if (call_.measurements_left > 0) choose_measurement(decision);
  return decision;
}

}  // namespace

Decision decide(const DecideCall& call) { return Decider(call).run(); }

}  // namespace berth::tier
