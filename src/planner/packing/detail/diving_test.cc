#include "planner/packing/detail/diving.h"

#include <gtest/gtest.h>

#include "planner/packing/detail/bulk.h"
#include "planner/packing/testing/limited_fleets.h"

namespace berth::packing::detail {
namespace {

/// A random fleet with everything that a diver needs.
class Dives {
 public:
  explicit Dives(std::uint64_t seed)
      : fleet_(seed), instance_(make_instance(fleet_.problem()).value()), nothing_(instance_.kinds.size(), 0) {
    for (std::uint32_t o = 0; o < instance_.offers.size(); ++o) fillers_.emplace_back(instance_, o);
  }

  [[nodiscard]] Diver diver() {
    return {instance_, fillers_, nothing_,
            relax(instance_, {.counts_slices = false, .limits = count_limits(instance_), .extra = nothing_})};
  }
  [[nodiscard]] DiveTask task() const {
    DiveTask task{.prices = {}, .gpus_max = {}, .near_dives_max = 10};
    for (const OfferedGpus& offer : instance_.offers) {
      task.prices.push_back(offer.price);
      task.gpus_max.push_back(offer.count_max.value_or(PlanLimits::kNone));
    }
    return task;
  }
  [[nodiscard]] std::int64_t price_of(const GpuCounts& gpus) const {
    std::int64_t price = 0;
    for (std::size_t o = 0; o < gpus.size(); ++o) price += gpus[o] * instance_.offers[o].price;
    return price;
  }
  /// The price of the plan whose GPUs are the limits.
  [[nodiscard]] std::int64_t known_price() const { return fleet_.cost() / instance_.micro_usd_per_price; }
  [[nodiscard]] const Instance& instance() const { return instance_; }

 private:
  reference::LimitedFleet fleet_;
  Instance instance_;
  Counts nothing_;
  std::vector<GpuFiller> fillers_;
};

Budget plenty() { return {.nodes_max = 10'000'000, .nodes = 0}; }

TEST(Diver, ItsPlansServeEveryDemandWithoutSurplus) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Dives dives(seed);
    Diver diver = dives.diver();
    Budget budget = plenty();
    ASSERT_FALSE(diver.search(dives.task(), budget).empty()) << "seed " << seed;
    for (const auto& [gpus, covers] : diver.plans()) {
      EXPECT_EQ(gpus, diver.gpus_of(covers, budget));
      for (std::size_t d = 0; d < covers.size(); ++d) {
        const InstanceDemand& demand = dives.instance().demands[d];
        EXPECT_GE(carried(demand, covers[d]), demand.rate);
        Counts same = covers[d];
        drop_surplus(demand, same);
        EXPECT_EQ(same, covers[d]);
      }
    }
  }
}

TEST(Diver, FindsMostlyPlansWithinTheLimitsThatAreNoMoreExpensiveThanAKnownOne) {
  int found = 0;
  constexpr int kSeeds = 40;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Dives dives(seed);
    Diver diver = dives.diver();
    Budget budget = plenty();
    const DiveTask task = dives.task();
    const GpuCounts gpus = diver.gpus_of(diver.search(task, budget), budget);
    bool is_within = true;
    for (std::size_t o = 0; o < gpus.size(); ++o) is_within = is_within && gpus[o] <= task.gpus_max[o];
    if (is_within && dives.price_of(gpus) <= dives.known_price()) ++found;
  }
  EXPECT_GE(found, kSeeds * 9 / 10);
}

TEST(Diver, NeverReturnsAPlanThatIsMoreExpensiveThanTheOneItBeginsWith) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Dives dives(seed);
    Diver diver = dives.diver();
    Budget budget = plenty();
    DiveTask task = dives.task();
    const CoverChoice start = diver.search(task, budget);
    task.start = &start;
    const CoverChoice next = diver.search(task, budget);
    EXPECT_LE(dives.price_of(diver.gpus_of(next, budget)), dives.price_of(diver.gpus_of(start, budget)));
  }
}

TEST(Diver, WithoutABudgetItReturnsWhatItBeginsWith) {
  Dives dives(1);
  Diver diver = dives.diver();
  Budget budget = plenty();
  DiveTask task = dives.task();
  const CoverChoice start = diver.search(task, budget);
  task.start = &start;
  Budget none{.nodes_max = 0, .nodes = 0};
  EXPECT_EQ(diver.search(task, none), start);
}

}  // namespace
}  // namespace berth::packing::detail
