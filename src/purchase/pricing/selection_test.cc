#include "purchase/pricing/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::pricing {
namespace {

using ::testing::ElementsAre;

Offer offer(const char* type, std::optional<std::int64_t> micro_usd, int gpus, const char* region = "r") {
  return {.key = {.provider = "p", .instance_type = type, .region = region},
          .shape = {.gpu_model = "h100", .gpu_count = gpus},
          .micro_usd_per_hour = micro_usd,
          .validity = {.from = *Date::parse("2026-01-01"), .to = *Date::parse("2026-02-01")},
          .source = "s"};
}

std::vector<std::string> types(const std::vector<Offer>& offers) {
  std::vector<std::string> found;
  for (const Offer& each : offers) found.push_back(each.key.instance_type);
  return found;
}

TEST(Selection, TheLastDayIsNotInForce) {
  const std::vector<Offer> offers = {offer("a", 1, 1)};
  EXPECT_EQ(offers_at(offers, {.at = *Date::parse("2025-12-31")}).size(), 0U);
  EXPECT_EQ(offers_at(offers, {.at = *Date::parse("2026-01-01")}).size(), 1U);
  EXPECT_EQ(offers_at(offers, {.at = *Date::parse("2026-01-31")}).size(), 1U);
  EXPECT_EQ(offers_at(offers, {.at = *Date::parse("2026-02-01")}).size(), 0U);
}

TEST(Selection, WantsAllThatIsNamed) {
  const std::vector<Offer> offers = {offer("a", 1, 1), offer("b", 1, 1, "s"), offer("c", 1, 1, "t")};
  const Date at = *Date::parse("2026-01-15");
  EXPECT_THAT(types(offers_at(offers, {.at = at, .regions = {"t", "r"}})), ElementsAre("a", "c"));
  EXPECT_THAT(types(offers_at(offers, {.at = at, .purchase = Purchase::kSpot})), ElementsAre());
  EXPECT_THAT(types(offers_at(offers, {.at = at, .gpu_model = "a100"})), ElementsAre());
  EXPECT_THAT(types(offers_at(offers, {.at = at, .instance_type = "b"})), ElementsAre("b"));
}

TEST(Selection, SortsByThePriceOfAGpuThenPartsThenNothing) {
  std::vector<Offer> offers = {offer("none", std::nullopt, 1), offer("part", 1, 0), offer("eight", 80, 8),
                               offer("one", 11, 1), offer("three", 30, 3)};
  sort_by_gpu_price(offers);
  EXPECT_THAT(types(offers), ElementsAre("eight", "three", "one", "part", "none"));
}

}  // namespace
}  // namespace berth::pricing
