#include "tier/choose/answer.h"

#include <utility>

#include "base/core/ensure.h"

namespace berth::tier {

namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kSecondsPerHour = 3'600;

std::vector<std::vector<FeatureShare>> feature_shares(const TierAnswer& answer) {
  std::vector<std::vector<FeatureShare>> shares(answer.prospects.size());
  for (std::size_t i = 0; i < shares.size() && answer.call.explain; ++i) {
    if (!answer.prospects[i].is_measured) shares[i] = answer.call.explain(i);
  }
  return shares;
}

}  // namespace

TierAnswer answer_of(ChooseCall call) {
  TierAnswer answer{.call = std::move(call), .prospects = {}};
  answer.prospects = prospects_at(answer.call, answer.call.target);
  answer.shares = feature_shares(answer);
  answer.choice = choose_tier(answer.call, answer.call.target, answer.prospects, prices_of(answer.call.tiers));
  if (!answer.choice) return answer;
  answer.changes = changes_of(answer.call, *answer.choice);
  answer.next = next_measurement(answer.call, answer.prospects);
  return answer;
}

double shown_cost(const TierAnswer& answer, double cost) {
  return answer.call.kind == TierKind::kJobs ? cost * kMillion / kSecondsPerHour : cost;
}

std::optional<Decimal> cost_shown(const TierAnswer& answer, std::size_t tier) {
  const auto& units = answer.prospects[tier].units;
  if (!units) return std::nullopt;
  const Decimal cost = answer.call.tiers[tier].usd_per_hour * *units;
  return answer.call.kind == TierKind::kJobs ? cost * Decimal(kMillion, kSecondsPerHour) : cost;
}

std::optional<double> mean_cost_shown(const TierAnswer& answer, std::size_t tier) {
  const auto& units = answer.prospects[tier].units_mean;
  if (!units) return std::nullopt;
  return shown_cost(answer, answer.call.tiers[tier].usd_per_hour.to_double() * *units);
}

std::size_t biggest_tier(const TierAnswer& answer) { return answer.call.tiers.size() - 1; }

Saving saving_of(const TierAnswer& answer) {
  ENSURE(answer.choice.has_value());
  const std::size_t biggest = biggest_tier(answer);
  const auto cost = cost_shown(answer, answer.choice->tier);
  const auto most = cost_shown(answer, biggest);
  if (cost && most) return {.share = 1 - (*cost / *most).to_double()};
  const Decimal& price = answer.call.tiers[answer.choice->tier].usd_per_hour;
  return {.share = 1 - (price / answer.call.tiers[biggest].usd_per_hour).to_double(), .is_of_prices = true};
}

}  // namespace berth::tier
