#include "tier/from_profiles/from_profiles.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::tier {
namespace {

ProfileRun run_on(std::int64_t id, const std::string& label, const std::string& device, double mean_us) {
  ProfileRun run{.id = id, .label = label, .model = {.name = "m", .flops = 5}, .machine = {.device = device}};
  run.points = {{.batch = 2, .rows_per_second = 2e6 / mean_us, .mean_us = mean_us}, {.batch = 4, .fits = false}};
  return run;
}

const std::vector<Tier> kTiers = {{.name = "small", .usd_per_hour = Decimal(1), .gpu = "A30-24GB", .profile = "1g.6gb"},
                                  {.name = "cpu", .usd_per_hour = Decimal(2)},
                                  {.name = "big", .usd_per_hour = Decimal(3), .gpu = "A30-24GB", .profile = "full"}};

TEST(FromProfiles, FindsTheTierOfEachPlace) {
  std::vector runs = {run_on(1, "A30-24GB:1g.6gb", "cpu", 100), run_on(2, "", "cpu", 50), run_on(3, "x:y", "z", 1)};
  runs[0].points[0].rate_text = "7.50";
  runs[0].points[0].latency_text = "0.10";
  const auto workload = workload_of(profile_book::points_in_force(runs, {}).at(0), kTiers);
  ASSERT_TRUE(workload.has_value());
  EXPECT_EQ(workload->group, "m");
  EXPECT_EQ(workload->graph.flops, Decimal(5));
  EXPECT_EQ(workload->graph.parameters, std::nullopt);
  ASSERT_EQ(workload->points.size(), 3U);
  EXPECT_EQ(workload->points[0], (std::vector<TierPoint>{{2, 1, Decimal(15, 2), Decimal(1, 10)}}));
  EXPECT_EQ(workload->points[1], (std::vector<TierPoint>{{2, 1, Decimal(40000), Decimal(5, 100)}}));
  EXPECT_TRUE(workload->points[2].empty());
}

TEST(FromProfiles, TakesTheNewestOfTwoMachines) {
  std::vector runs = {run_on(1, "", "cpu", 100), run_on(2, "", "cpu", 50)};
  runs[0].machine.processor = "Z";
  const auto workload = workload_of(profile_book::points_in_force(runs, {}).at(0), kTiers);
  ASSERT_TRUE(workload.has_value());
  EXPECT_EQ(workload->points[1], (std::vector<TierPoint>{{2, 1, Decimal(40000), Decimal(5, 100)}}));
}

TEST(FromProfiles, TakesWhatWasObserved) {
  const std::vector runs = {run_on(1, "", "cpu", 100)};
  const ObservedSum sum{.url = "u",
                        .times = {.model = "m", .device = "cpu", .batch = 2, .count = 200, .sum_us = 40'000}};
  const auto workload = workload_of(profile_book::points_in_force(runs, std::vector{sum}).at(0), kTiers);
  ASSERT_TRUE(workload.has_value());
  EXPECT_EQ(workload->points[1], (std::vector<TierPoint>{{2, 1, Decimal(10000), Decimal(2, 10)}}));
}

}  // namespace
}  // namespace berth::tier
