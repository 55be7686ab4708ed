#include "tier/hardware/tiers_file.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::tier {
namespace {

std::string refusal(const std::string& text) {
  const auto tiers = read_tiers_file(text, "tiers.yaml");
  return tiers ? "" : tiers.error().message;
}

TEST(TiersFile, CompletesFiguresFromTheTableAndSortsByPrice) {
  const auto tiers = read_tiers_file(
      "tiers:\n"
      "  - {name: big, gpu: A100-80GB, usd_per_hour: 3.673}\n"
      "  - {name: slice, gpu: A100-80GB, profile: 3g.40gb, usd_per_hour: 1.8365}\n"
      "  - {name: own, usd_per_hour: 0.10, tflops: 12.5}\n",
      "tiers.yaml");
  ASSERT_TRUE(tiers.has_value()) << tiers.error().message;
  ASSERT_EQ(tiers->size(), 3U);
  const Tier own{.name = "own", .usd_per_hour = Decimal(1, 10), .tflops = Decimal(125, 10)};
  EXPECT_EQ((*tiers)[0], own);
  const Tier slice{.name = "slice",
                   .usd_per_hour = Decimal(18365, 10000),
                   .gpu = "A100-80GB",
                   .profile = "3g.40gb",
                   .memory_mib = Decimal(40192),
                   .tflops = Decimal(312 * 3, 7),
                   .gb_per_second = Decimal(2039, 2)};
  EXPECT_EQ((*tiers)[1], slice);
  EXPECT_EQ((*tiers)[2].profile, "full");
  EXPECT_EQ((*tiers)[2].tflops, Decimal(312));
}

TEST(TiersFile, KeepsStatedFiguresAndTheOrderOfEqualPrices) {
  const auto tiers = read_tiers_file(
      "tiers:\n"
      "  - {name: b, gpu: T4, usd_per_hour: 1, memory_mib: 100, tflops: 1, gb_per_second: 2}\n"
      "  - {name: a, gpu: K80, usd_per_hour: 1.0}\n",
      "tiers.yaml");
  ASSERT_TRUE(tiers.has_value()) << tiers.error().message;
  EXPECT_EQ((*tiers)[0].name, "b");
  EXPECT_EQ((*tiers)[0].gpu, "T4-16GB");
  EXPECT_EQ((*tiers)[0].memory_mib, Decimal(100));
  EXPECT_EQ((*tiers)[0].tflops, Decimal(1));
  EXPECT_EQ((*tiers)[0].gb_per_second, Decimal(2));
  EXPECT_EQ((*tiers)[1].gpu, "K80-12GB");
}

TEST(TiersFile, RefusesWithThePlaceOfTheKey) {
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"tiers: []\n", "tiers.yaml:1:8: tiers: wanted a list of tiers, found an empty list"},
      {"tiers:\n- {name: a, usd_per_hour: 0}\n",
       "tiers.yaml:2:27: tiers[0].usd_per_hour: wanted a number above 0, at most 1000000000, found \"0\""},
      {"tiers:\n- {name: a}\n",
       "tiers.yaml:2:3: tiers[0].usd_per_hour: wanted a number above 0, at most 1000000000, found nothing"},
      {"tiers:\n- {name: a, usd_per_hour: 1}\n- {name: a, usd_per_hour: 2}\n",
       "tiers.yaml:3:10: tiers[1].name: wanted a name that no other tier has, found \"a\""},
      {"tiers:\n- {name: a, usd_per_hour: 1, price: 2}\n",
       "tiers.yaml:2:30: tiers[0]: unknown key \"price\" (known: name, gpu"},
      {"tiers:\n- {name: a, usd_per_hour: 1, gpu: H100}\n", "tiers.yaml:2:35: tiers[0].gpu: wanted one GPU, found"},
      {"tiers:\n- {name: a, usd_per_hour: 1, gpu: nonsense}\n",
       "tiers.yaml:2:35: tiers[0].gpu: wanted a GPU, found \"nonsense\"; known are A100-40GB"},
      {"tiers:\n- {name: a, usd_per_hour: 1, gpu: T4, profile: 1g.5gb}\n",
       "tiers.yaml:2:48: tiers[0].profile: wanted a profile of T4-16GB (full), found \"1g.5gb\""},
      {"tiers:\n- {name: a, usd_per_hour: 1, profile: full}\n",
       "tiers.yaml:2:39: tiers[0].profile: wanted no profile without `gpu`, found \"full\""},
      {"tiers:\n- {name: a, usd_per_hour: 1, tflops: -1}\n",
       "tiers.yaml:2:38: tiers[0].tflops: wanted a number above 0, at most 1000000000, found \"-1\""},
  };
  for (const Case& each : cases) EXPECT_TRUE(refusal(each.text).starts_with(each.message)) << refusal(each.text);
}

TEST(TiersFile, PricesFromElsewhereNeedAGpu) {
  const auto tiers = read_unpriced_tiers("tiers:\n- {name: b, gpu: L4}\n- {name: a, gpu: T4, usd_per_hour: 1}\n", "t");
  ASSERT_TRUE(tiers.has_value()) << tiers.error().message;
  EXPECT_EQ((*tiers)[0].usd_per_hour, Decimal(0));
  EXPECT_EQ((*tiers)[1].usd_per_hour, Decimal(1));
  const auto unpriced = read_unpriced_tiers("tiers:\n- {name: b}\n", "t");
  ASSERT_FALSE(unpriced.has_value());
  EXPECT_NE(unpriced.error().message.find("tiers[0].gpu: wanted a GPU model"), std::string::npos)
      << unpriced.error().message;
}

}  // namespace
}  // namespace berth::tier
