/// What must hold for every sequence of questions about random models.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tier/enforce/choose_tier.h"

namespace berth::tier {
namespace {

int below(int bound) { return *rc::gen::inRange(0, bound); }

TierOffer any_tier(int number) {
  TierOffer tier{.gpu = std::string(1, static_cast<char>('a' + number)),
                 .gpus = 1 + below(3),
                 .has_rows = below(6) > 0,
                 .is_predicted = below(2) > 0,
                 .levels = {}};
  if (!tier.has_rows) return tier;
  double rate = below(30);
  for (const double sure : tier.is_predicted ? std::vector{0.99, 0.9, 0.5} : std::vector{1.0}) {
    OfferLevel& level = tier.levels.emplace_back(OfferLevel{.sure = sure, .offers = {}});
    if (rate >= 5) level.offers = {{.per_second = rate, .usd_per_hour = 1.0 + below(9), .per_gpu_max = 1 + below(3)}};
    rate += below(20);
  }
  return tier;
}

bool is_sufficient(const TierOffer& tier, const TierQuestion& question) {
  return tier.has_rows &&
         mean_usd_per_hour(tier.level_for(question.sure).offers, tier.gpus, question.rates).has_value();
}

RC_GTEST_PROP(ChooseTierProperty, ObeysItsRules, ()) {
  TierMemory memory;
  std::vector<TierOffer> tiers;
  const int count = 1 + below(4);
  for (int i = 0; i < count; ++i) tiers.push_back(any_tier(i));
  std::vector<std::int64_t> savings;
  for (std::int64_t second = 0; second < 20'000; second += 60 * (1 + below(20))) {
    if (below(10) == 0) tiers[static_cast<std::size_t>(below(count))] = any_tier(below(count));
    for (int i = 0; i < count; ++i) tiers[static_cast<std::size_t>(i)].gpu = std::string(1, static_cast<char>('a' + i));
    const std::vector<double> rates = {static_cast<double>(below(60)), static_cast<double>(below(60))};
    const TierQuestion question{
        .tiers = tiers, .rates = rates, .sure = 0.9, .now = Instant::at_second(second), .is_short = below(3) == 0};
    TierMemory again = memory;
    const auto choice = choose_tier(question, memory);
    RC_ASSERT(choose_tier(question, again) == choice);
    RC_ASSERT(again == memory);
    if (!choice) continue;
    RC_ASSERT(choice->gpu == memory.gpu);
    const auto chosen = std::ranges::find(tiers, choice->gpu, &TierOffer::gpu);
    RC_ASSERT(chosen != tiers.end() && chosen->has_rows);
    RC_ASSERT(std::ssize(choice->rejected) == std::ssize(tiers) - 1);
    const bool any_is_sufficient = std::ranges::any_of(tiers, [&](const TierOffer& tier) {
      return tier.gpu != choice->gpu && is_sufficient(tier, question) && !memory.without_room.contains(tier.gpu);
    });
    if (any_is_sufficient) RC_ASSERT(is_sufficient(*chosen, question));
    if (memory.saved_at == question.now) savings.push_back(second);
  }
  for (std::size_t i = 1; i < savings.size(); ++i) RC_ASSERT(savings[i] - savings[i - 1] >= 3600);
}

}  // namespace
}  // namespace berth::tier
