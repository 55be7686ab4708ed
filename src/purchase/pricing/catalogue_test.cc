/// The built-in catalogue, against the errors that articles on GPU prices repeat (docs/reference/prices.md).
#include "purchase/pricing/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "purchase/pricing/offer_files.h"
#include "purchase/pricing/selection.h"

namespace berth::pricing {
namespace {

constexpr std::int64_t kMicroPerCent = 10'000;

const Offer* find(std::string_view type, Purchase purchase = Purchase::kOnDemand) {
  const auto& offers = built_in_offers();
  const auto it = std::ranges::find_if(
      offers, [&](const Offer& offer) { return offer.key.instance_type == type && offer.key.purchase == purchase; });
  return it == offers.end() ? nullptr : &*it;
}

std::int64_t cents_of(std::string_view type) {
  const Offer* offer = find(type);
  return offer == nullptr || !offer->micro_usd_per_hour ? -1 : *offer->micro_usd_per_hour / kMicroPerCent;
}

TEST(Catalogue, EachFigureHasItsSourceAndDate) {
  for (const Offer& offer : built_in_offers()) {
    EXPECT_FALSE(offer.source.empty()) << offer.key.instance_type;
    EXPECT_GE(offer.validity.from, *Date::parse("2026-01-01")) << offer.key.instance_type;
    EXPECT_GT(offer.shape.gpu_memory_mib, 0) << offer.key.instance_type;
    EXPECT_GT(offer.shape.vcpu_milli, 0) << offer.key.instance_type;
    EXPECT_GT(offer.shape.memory_mib, 0) << offer.key.instance_type;
  }
}

TEST(Catalogue, HasAllThreeClouds) {
  std::set<std::string> places;
  for (const Offer& offer : built_in_offers()) places.insert(offer.key.provider + " " + offer.key.region);
  EXPECT_TRUE(places.contains("aws us-east-1"));
  EXPECT_TRUE(places.contains("azure eastus"));
  EXPECT_TRUE(places.contains("gcp us-central1"));
}

TEST(Catalogue, T4A10AndL4HaveNoMig) {
  std::set<std::string> without = {"t4", "a10", "a10g", "l4", "l40s", "v100"};
  for (const Offer& offer : built_in_offers()) {
    if (!without.contains(offer.shape.gpu_model)) continue;
    EXPECT_EQ(offer.shape.mig_instances_max, 0) << offer.key.instance_type;
  }
  for (const char* type : {"p4d.24xlarge", "p5.48xlarge", "a2-highgpu-1g", "Standard_NC24ads_A100_v4"}) {
    ASSERT_NE(find(type), nullptr) << type;
    EXPECT_EQ(find(type)->shape.mig_instances_max, 7) << type;
  }
}

TEST(Catalogue, PricesAreThoseOfTheListsAndNotThoseOfOldArticles) {
  EXPECT_EQ(cents_of("p5.48xlarge"), 5504);    // not 98.32, nor 80.62
  EXPECT_EQ(cents_of("p4d.24xlarge"), 2195);   // not 32.77
  EXPECT_EQ(cents_of("p4de.24xlarge"), 2744);  // not 40.97
  EXPECT_EQ(cents_of("Standard_ND96isr_H100_v5"), 9832);
}

TEST(Catalogue, AnH100OfGoogleIsNotThreeDollarsOnDemand) {
  const Offer* offer = find("a3-highgpu-8g");
  ASSERT_NE(offer, nullptr);
  EXPECT_EQ(*offer->micro_usd_per_hour / offer->shape.gpu_count / kMicroPerCent, 1106);
}

TEST(Catalogue, MemoryIsWhatIsUsable) {
  EXPECT_EQ(find("g5.xlarge")->shape.gpu_memory_mib, 22'888);  // not 24 GB
  EXPECT_EQ(find("g6.xlarge")->shape.gpu_memory_mib, 22'888);
  EXPECT_EQ(find("g6e.xlarge")->shape.gpu_memory_mib, 45'776);  // not 48 GB
}

TEST(Catalogue, NcH100V5IsTheNvlWith94Gb) {
  const Offer* offer = find("Standard_NC40ads_H100_v5");
  ASSERT_NE(offer, nullptr);
  EXPECT_EQ(offer->shape.gpu_model, "h100-nvl");
  EXPECT_EQ(offer->shape.gpu_memory_mib, 94 * 1024);
}

TEST(Catalogue, AsrHas40GbAndAmsr80) {
  EXPECT_EQ(find("Standard_ND96asr_v4")->shape.gpu_memory_mib, 40 * 1024);
  EXPECT_EQ(find("Standard_ND96amsr_A100_v4")->shape.gpu_memory_mib, 80 * 1024);
}

TEST(Catalogue, PartsOfAGpuAreNoMigAndAreNotBought) {
  for (const char* type :
       {"Standard_NV6ads_A10_v5", "Standard_NV12ads_A10_v5", "Standard_NV18ads_A10_v5", "g6f.large"}) {
    const Offer* offer = find(type);
    ASSERT_NE(offer, nullptr) << type;
    EXPECT_EQ(offer->shape.gpu_count, 0) << type;
    EXPECT_EQ(offer->shape.mig_instances_max, 0) << type;
    EXPECT_FALSE(is_buyable(*offer)) << type;
  }
}

TEST(Catalogue, AGoogleInstanceHasTheHostInItsPrice) {
  const Offer* offer = find("a2-highgpu-1g");
  ASSERT_NE(offer, nullptr);
  EXPECT_EQ(*offer->micro_usd_per_hour / kMicroPerCent, 367);
  EXPECT_GT(offer->shape.vcpu_milli, 0);
}

TEST(Catalogue, MoreVcpuIsNotMoreGpus) {
  EXPECT_EQ(find("g5.12xlarge")->shape.gpu_count, 4);
  EXPECT_EQ(find("g5.16xlarge")->shape.gpu_count, 1);
  EXPECT_EQ(find("g6.24xlarge")->shape.gpu_count, 4);
  EXPECT_EQ(find("g2-standard-24")->shape.gpu_count, 2);
  EXPECT_EQ(find("g2-standard-32")->shape.gpu_count, 1);
}

TEST(Catalogue, SpotIsNotAlwaysCheaper) {
  const Offer* spot = find("p5.4xlarge", Purchase::kSpot);
  ASSERT_NE(spot, nullptr);
  EXPECT_EQ(spot->micro_usd_per_hour, find("p5.4xlarge")->micro_usd_per_hour);
  EXPECT_LT(*find("a3-highgpu-8g", Purchase::kSpot)->micro_usd_per_hour, *find("a3-highgpu-8g")->micro_usd_per_hour);
}

TEST(Catalogue, IsTheSameOnceWrittenAndRead) {
  const std::string text = write_offers(built_in_offers());
  const auto rows = read_offers({.text = text, .file = "written.csv", .stamp = Date()});
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  ASSERT_EQ(rows->size(), built_in_offers().size());
  for (std::size_t i = 0; i < rows->size(); ++i) EXPECT_EQ((*rows)[i].offer, built_in_offers()[i]);
}

}  // namespace
}  // namespace berth::pricing
