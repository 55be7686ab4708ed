#include "tier/hardware/catalogue_prices.h"

#include <gtest/gtest.h>

#include <string>

#include "tier/hardware/tiers_file.h"

namespace berth::tier {
namespace {

pricing::Offer offer_of(const std::string& type, const std::string& gpu, int count, std::int64_t micro_usd) {
  pricing::Offer offer;
  offer.key = {.provider = "cloud", .instance_type = type, .region = "here"};
  offer.shape.gpu_model = gpu;
  offer.shape.gpu_count = count;
  offer.shape.gpu_memory_mib = gpu == "a100" ? 40'960 : 16'384;
  offer.micro_usd_per_hour = micro_usd;
  return offer;
}

TEST(CataloguePrices, TakeTheLeastPerGpuAndTheLargerShare) {
  auto tiers = read_unpriced_tiers(
      "tiers:\n- {name: slice, gpu: A100-40GB, profile: 3g.20gb}\n- {name: t4, gpu: T4, usd_per_hour: 99}\n", "t");
  ASSERT_TRUE(tiers.has_value());
  auto spot = offer_of("spot", "t4", 1, 1);
  spot.key.purchase = pricing::Purchase::kSpot;
  const std::vector<pricing::Offer> offers = {spot, offer_of("part", "t4", 0, 2), offer_of("one", "t4", 1, 600'000),
                                              offer_of("four", "t4", 4, 2'000'000),
                                              offer_of("eight", "a100", 8, 24'000'000)};
  const auto used = price_tiers(*tiers, offers);
  ASSERT_TRUE(used.has_value()) << used.error().message;
  EXPECT_EQ((*tiers)[0].name, "t4");
  EXPECT_EQ((*tiers)[0].usd_per_hour, Decimal(1, 2));
  EXPECT_EQ((*used)[0].instance_type, "four");
  EXPECT_EQ((*tiers)[1].usd_per_hour, Decimal(3, 2));
  EXPECT_EQ((*used)[1].instance_type, "eight");
  EXPECT_EQ((*used)[1].share, Decimal(1, 2));
}

TEST(CataloguePrices, RefuseAModelWithoutAnOffer) {
  auto tiers = read_unpriced_tiers("tiers: [{name: old, gpu: K80}]", "t");
  ASSERT_TRUE(tiers.has_value());
  const auto used = price_tiers(*tiers, std::vector{offer_of("one", "t4", 1, 600'000)});
  ASSERT_FALSE(used.has_value());
  EXPECT_EQ(used.error().message, "tier old: wanted an offer on demand of K80-12GB, found none in the catalogue");
}

}  // namespace
}  // namespace berth::tier
