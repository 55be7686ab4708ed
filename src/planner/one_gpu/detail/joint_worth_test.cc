#include "planner/one_gpu/detail/joint_worth.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/configurations.h"

namespace berth::planner {
namespace {

using testing::kStatesMax;

constexpr int kJointWorthSeeds = berth::testing::by_build(150, 20);

struct Worth {
  Worth(const Problem& problem, Variants variants)
      : gpu_case(problem), phases(problem), states(gpu_case, variants, kStatesMax), worth(gpu_case, states, phases) {}
  GpuCase gpu_case;
  JointPhases phases;
  JointStates states;
  JointWorth worth;

  /// Whether the model of a service may be stale.
  [[nodiscard]] bool may_be_stale(ServiceIndex service) const {
    return std::ranges::count(phases.services(), service) > 0;
  }
  /// The worth of a bundle in a slot; a model that counts as fresh may still wait for its swap.
  [[nodiscard]] double served(ServiceIndex service, BundleIndex bundle, bool is_fresh, SlotIndex t) const {
    const LevelIndex level = gpu_case.bundles[service].level[bundle];
    const double value = gpu_case.served[service].value(level, is_fresh, t, t + 1);
    if (!is_fresh || !gpu_case.may_lose_by_swap(service)) return value;
    return std::max(value, gpu_case.served[service].value(level, false, t, t + 1));
  }
  /// The worth of a holding in a slot: that of its best bundle.
  [[nodiscard]] double best_served(ServiceIndex service, HoldingIndex holding, bool is_fresh, SlotIndex t) const {
    double best = kWorthless;
    for (const BundleIndex bundle : Indices<BundleIndex>(gpu_case.bundles[service].count())) {
      if (states.holding_of(service, bundle) == holding) best = std::max(best, served(service, bundle, is_fresh, t));
    }
    return best;
  }
};

Variants variants_of(std::uint64_t seed) { return seed % 2 == 0 ? Variants::kKept : Variants::kFree; }

TEST(JointWorth, IsTheBestOfEachSlot) {
  int choices = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointWorthSeeds)) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    const Problem problem = testing::one_gpu_of_tiny(seed);
    const Worth of(problem, variants_of(seed));
    ASSERT_TRUE(of.states.is_usable());
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      if (of.gpu_case.bundles[service].count() > of.states.holdings(service)) ++choices;
      for (const HoldingIndex holding : Indices<HoldingIndex>(of.states.holdings(service))) {
        for (const bool is_fresh : {true, false}) {
          if (!is_fresh && !of.may_be_stale(service)) continue;
          double sum = 0;
          for (const SlotIndex t : Indices<SlotIndex>(problem.slots)) {
            ASSERT_NEAR(of.worth.before(service, is_fresh, t)[holding], sum, 1e-9 * (1 + std::abs(sum)));
            sum += of.best_served(service, holding, is_fresh, t);
          }
          ASSERT_NEAR(of.worth.before(service, is_fresh, of.gpu_case.end())[holding], sum, 1e-9 * (1 + std::abs(sum)));
          if (is_fresh) {
            EXPECT_NEAR(of.worth.served(service, holding, SlotIndex(0), of.gpu_case.end()), sum, 1e-9 * (1 + sum));
          }
        }
      }
    }
  }
  EXPECT_GT(choices, 0);
}

TEST(JointWorth, OfTheTailIsThatOfTheBestBundle) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointWorthSeeds)) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    const Problem problem = testing::one_gpu_of_tiny(seed);
    const Worth of(problem, variants_of(seed));
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      const Bundles& bundles = of.gpu_case.bundles[service];
      for (const bool is_fresh : {true, false}) {
        if (!is_fresh && !of.may_be_stale(service)) continue;
        std::vector<double> best(ix(of.states.holdings(service)), kWorthless);
        for (const BundleIndex bundle : Indices<BundleIndex>(bundles.count())) {
          double& most = best[of.states.holding_of(service, bundle)];
          most = std::max(most, of.gpu_case.served[service].tail(bundles.level[bundle], is_fresh));
        }
        EXPECT_EQ(of.worth.tail(service, is_fresh), best);
      }
    }
  }
}

/// In any slots, and for fresh and stale models.
TEST(JointWorth, MarginsAreNoMoreThanWhatAPieceMoreServes) {
  int smaller = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointWorthSeeds)) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    const Problem problem = testing::one_gpu_of_tiny(seed);
    const Worth of(problem, variants_of(seed));
    const std::vector<JointStates::Addition>& additions = of.states.additions();
    for (std::size_t i = 0; i < additions.size(); ++i) {
      const auto [service, from, to, kind] = additions[i];
      for (const SlotIndex t : Indices<SlotIndex>(problem.slots)) {
        const double margin = of.worth.margins(t + 1)[i] - of.worth.margins(t)[i];
        const double fresh_margin = of.worth.fresh_margins(t + 1)[i] - of.worth.fresh_margins(t)[i];
        const double fresh = of.best_served(service, to, true, t) - of.best_served(service, from, true, t);
        const double slack = 1e-9 * (1 + std::abs(of.worth.before(service, true, t + 1)[to]));
        double least = fresh;
        if (of.may_be_stale(service)) {
          least = std::min(least, of.best_served(service, to, false, t) - of.best_served(service, from, false, t));
        }
        ASSERT_NEAR(margin, least, slack);
        ASSERT_LE(fresh_margin, fresh + slack);
        ASSERT_GE(fresh_margin, margin - slack);
        if (margin < fresh_margin - slack) ++smaller;
      }
      EXPECT_EQ(of.worth.margins(of.gpu_case.end() + 3)[i], of.worth.margins(of.gpu_case.end())[i]);
    }
  }
  EXPECT_GT(smaller, 0);
}

}  // namespace
}  // namespace berth::planner
