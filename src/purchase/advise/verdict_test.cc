// The words for an answer, and its sums by offer.
#include "purchase/advise/verdict.h"

#include <gtest/gtest.h>

#include <vector>

#include "purchase/advise/offer_totals.h"
#include "purchase/advise/testing/cases.h"

namespace berth::purchase::advise {
namespace {

using reference::gpu_offer;
using reference::pod;
using reference::shared_pod;

Advice advice_with(std::int64_t cost, std::int64_t bound, std::vector<Rival> rivals) {
  return {.micro_usd_per_hour = cost,
          .bound_micro_usd_per_hour = bound,
          .instances = {{.offer = gpu_offer("one", "t4", 1, cost), .pods = {}}},
          .rivals = std::move(rivals),
          .nodes = 0};
}

TEST(AdviseVerdict, ComparesWithTheBetterRivalAndTheBound) {
  EXPECT_EQ(advise_verdict(advice_with(3'000'000, 2'400'000,
                                       {{.name = "ffd", .micro_usd_per_hour = 5'000'000},
                                        {.name = "cheapest-fit", .micro_usd_per_hour = 4'000'000}})),
            "Rent this instance: $3.0000 an hour, 25.0% less than by cheapest-fit, the better of two common rules. Not "
            "proven "
            "the cheapest: at most 25.00% above it.");
  EXPECT_EQ(
      advise_verdict(advice_with(3'000'000, 3'000'000, {{.name = "ffd", .micro_usd_per_hour = 3'000'000}})),
      "Rent this instance: $3.0000 an hour, as much as by ffd, the better of two common rules. No instances of these "
      "offers hold the pods for less: proven.");
  Advice two = advice_with(3'000'000, 0, {});
  two.instances.push_back(two.instances.front());
  EXPECT_EQ(advise_verdict(two), "Rent these 2 instances: $3.0000 an hour. Whether it could be less is not proven.");
}

TEST(AdviseVerdict, StatesTheAgeOfThePrices) {
  Advice advice = advice_with(1, 1, {});
  advice.instances.front().offer.validity.from = Date(20'000);
  EXPECT_EQ(
      advise_assumption(advice, Date(20'010)),
      "Assumed: list prices of 2024-10-04, 10 days old, without taxes and your discounts; each pod needs what the list "
      "says, all the time.");
}

TEST(OfferTotals, SumInstancesOfOneOfferInTheirFirstOrder) {
  const std::vector<Pod> pods = {pod("a", 4, 8, 1), shared_pod("b", 250), pod("c", 2, 1, 0)};
  Advice advice = advice_with(100, 100, {});
  advice.instances = {{.offer = gpu_offer("big", "t4", 4, 70), .pods = {{.row = 1, .gpus = {0}}}},
                      {.offer = gpu_offer("one", "t4", 1, 15), .pods = {{.row = 2, .gpus = {}}}},
                      {.offer = gpu_offer("big", "t4", 4, 70), .pods = {{.row = 0, .gpus = {3}}}}};
  const auto totals = totals_by_offer(advice, pods);
  ASSERT_EQ(totals.size(), 2U);
  EXPECT_EQ(totals[0].offer->key.instance_type, "big");
  EXPECT_EQ(totals[0].instances, 2);
  EXPECT_EQ(totals[0].micro_usd_per_hour(), 140);
  EXPECT_EQ(totals[0].pods, 2);
  EXPECT_EQ(totals[0].gpu_milli, 1'250);
  EXPECT_EQ(totals[0].cpu_milli, 5'000);
  EXPECT_EQ(totals[0].memory_mib, 9 * 1'024);
  EXPECT_EQ(totals[1].gpu_milli, 0);
}

}  // namespace
}  // namespace berth::purchase::advise
