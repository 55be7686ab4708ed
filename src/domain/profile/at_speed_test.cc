#include "domain/profile/at_speed.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "domain/profile/operating_point.h"

namespace berth::profile {
namespace {

constexpr const char* kModel = "A100-80GB";

MigProfile profile(std::string name, int compute_slices) {
  MigProfile profile;
  profile.name = std::move(name);
  profile.compute_slices = compute_slices;
  return profile;
}

GpuModel model() {
  GpuModel model;
  model.name = kModel;
  model.profiles = {profile("1g.10gb", 1), profile("7g.80gb", 7)};
  model.has_full = true;
  return model;
}

PerformancePoint row(std::string profile, int batch, std::int64_t latency_ms) {
  return {.gpu = kModel,
          .profile = std::move(profile),
          .batch = batch,
          .processes = 1,
          .requests_per_second = Decimal(std::int64_t{1000} * batch, latency_ms),
          .latency_ms = Decimal(latency_ms)};
}

/// The limit of its points is 45 ms.
ServiceSpec service() {
  ServiceSpec service;
  service.target = Micros(100'000);
  service.target_ms = Decimal(100);
  service.table.points = {row("1g.10gb", 1, 20), row("1g.10gb", 4, 40), row("7g.80gb", 8, 10)};
  return service;
}

SpeedFactors factor(std::string profile, const Decimal& factor, bool is_used = true) {
  SpeedFactors speeds;
  speeds[{.service = {0}, .gpu = kModel, .profile = std::move(profile)}] = {
      .factor = factor, .batches = 200, .at = {}, .is_used = is_used};
  return speeds;
}

TEST(AtSpeed, WithoutFactorsIsTheSame) {
  EXPECT_EQ(at_speed(service(), {0}, {}), service());
  EXPECT_EQ(at_speed(service(), {1}, factor("1g.10gb", Decimal(2))), service());
  EXPECT_EQ(at_speed(service(), {0}, factor("1g.10gb", Decimal(2), false)), service());
}

TEST(AtSpeed, ScalesTheRowsOfTheModel) {
  const ServiceSpec seen = at_speed(service(), {0}, factor("1g.10gb", Decimal(2)));
  EXPECT_EQ(seen.table.points[0].latency_ms, Decimal(40));
  EXPECT_EQ(seen.table.points[0].requests_per_second, Decimal(25));
  EXPECT_EQ(seen.table.points[2].latency_ms, Decimal(20)) << "a profile without a factor takes the mean of the others";
}

TEST(AtSpeed, APointWithinTheLimitIsChosen) {
  const ServiceSpec seen = at_speed(service(), {0}, factor("1g.10gb", Decimal(13, 10)));
  const auto point = choose_point(seen, model(), {0});
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->batch, 1);
  EXPECT_TRUE(seen.tier.slow_on.empty());
}

TEST(AtSpeed, WithoutAPointTheQuickestStays) {
  const ServiceSpec seen = at_speed(service(), {0}, factor("1g.10gb", Decimal(3)));
  EXPECT_EQ(seen.tier.slow_on, (std::vector<std::pair<std::string, std::string>>{{kModel, "1g.10gb"}}));
  const auto point = choose_point(seen, model(), {0});
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->batch, 1);
  EXPECT_EQ(point->latency_ms, Decimal(60));
  EXPECT_TRUE(choose_point(seen, model(), {1}).has_value());
}

TEST(AtSpeed, AWholeGpuUsesTheRowsOfTheLargestProfile) {
  EXPECT_EQ(rows_profile(service().table, model(), ProfileId::full()), "7g.80gb");
  EXPECT_EQ(rows_profile(service().table, model(), {0}), "1g.10gb");
}

TEST(SpeedInForce, IsTheOwnOneOrTheMean) {
  SpeedFactors speeds = factor("1g.10gb", Decimal(2));
  speeds[{.service = {0}, .gpu = kModel, .profile = "2g.20gb"}] = {.factor = Decimal(1), .batches = 200, .at = {}};
  const auto at = [&](const char* gpu, const char* profile) {
    return speed_in_force(speeds, {.service = {0}, .gpu = gpu, .profile = profile});
  };
  EXPECT_EQ(at(kModel, "1g.10gb"), Decimal(2));
  EXPECT_EQ(at(kModel, "3g.40gb"), Decimal(3, 2));
  EXPECT_EQ(at("H100-80GB", "1g.10gb"), Decimal(1));
  forget_speeds(speeds, {0});
  EXPECT_TRUE(speeds.empty());
}

}  // namespace
}  // namespace berth::profile
