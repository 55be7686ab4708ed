#include "tier/hardware/gpu_figures.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "domain/mig/catalogue.h"
#include "purchase/pricing/catalogue.h"
#include "tier/hardware/slice_share.h"
#include "tier/hardware/source_tiers.h"

namespace berth::tier {
namespace {

TEST(GpuFigures, CoverEveryModelOfTheCatalogueWithSources) {
  std::set<std::string> names;
  for (const GpuFigures& figures : gpu_figures()) {
    EXPECT_TRUE(names.insert(figures.gpu).second) << figures.gpu;
    EXPECT_GT(figures.tflops.sign(), 0);
    EXPECT_GT(figures.gb_per_second.sign(), 0);
    EXPECT_GT(figures.memory_mib.sign(), 0) << figures.gpu;
    EXPECT_FALSE(figures.tflops_source.empty());
    EXPECT_FALSE(figures.bytes_source.empty());
    EXPECT_EQ(figures.product.find(' '), std::string::npos);
    EXPECT_FALSE(figures.product.empty());
    const auto found = find_gpu_figures(figures.gpu);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    EXPECT_EQ(found->gpu, figures.gpu);
  }
  for (const GpuModel& model : mig::gpu_models()) EXPECT_TRUE(names.contains(model.name)) << model.name;
}

TEST(GpuFigures, AreFoundByShortNames) {
  const std::pair<const char*, const char*> cases[] = {{"A30", "A30-24GB"},
                                                       {"H100-80GB", "H100-80GB-SXM5"},
                                                       {"L4", "L4-24GB"},
                                                       {"L40", "L40-48GB"},
                                                       {"L40S", "L40S-48GB"},
                                                       {"A10", "A10-24GB"},
                                                       {"A10G", "A10G-24GB"},
                                                       {"K80", "K80-12GB"},
                                                       {"Quadro-RTX-6000", "Quadro-RTX-6000-24GB"}};
  for (const auto& [name, full] : cases) {
    const auto found = find_gpu_figures(name);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    EXPECT_EQ(found->gpu, full);
  }
  for (const char* name : {"", "A100", "V100", "K8", "B300"}) EXPECT_FALSE(find_gpu_figures(name).has_value()) << name;
}

TEST(GpuFigures, NameTheModelsOfTheBuiltInOffers) {
  std::set<std::string> offered;
  for (const GpuFigures& figures : gpu_figures()) offered.insert(figures.offered_as.gpu_model);
  std::set<std::string> missing;
  for (const pricing::Offer& offer : pricing::built_in_offers()) {
    if (pricing::is_buyable(offer) && !offered.contains(offer.shape.gpu_model)) missing.insert(offer.shape.gpu_model);
  }
  EXPECT_EQ(missing, (std::set<std::string>{"b300", "rtx-pro-4500"}));  // no sheet states all of their figures
}

TEST(SliceShare, IsThatOfComputeSlicesAndOfPlacementUnits) {
  struct Case {
    const char* gpu;
    const char* profile;
    Decimal compute;
    Decimal memory;
  };
  const Case cases[] = {{"A100-40GB", "full", Decimal(1), Decimal(1)},
                        {"A100-40GB", "1g.5gb", Decimal(1, 7), Decimal(1, 8)},
                        {"A100-40GB", "1g.10gb", Decimal(1, 7), Decimal(1, 4)},
                        {"A100-40GB", "3g.20gb", Decimal(3, 7), Decimal(1, 2)},
                        {"A100-40GB", "4g.20gb", Decimal(4, 7), Decimal(1, 2)},
                        {"A30", "2g.12gb", Decimal(1, 2), Decimal(1, 2)},
                        {"RTX-PRO-6000", "1g.24gb", Decimal(1, 4), Decimal(1, 4)}};
  for (const Case& each : cases) {
    const auto share = slice_share(*find_gpu_figures(each.gpu), each.profile);
    ASSERT_TRUE(share.has_value()) << share.error().message;
    EXPECT_EQ(share->compute, each.compute) << each.profile;
    EXPECT_EQ(share->memory, each.memory) << each.profile;
  }
  EXPECT_EQ(slice_memory_mib(*find_gpu_figures("A100-40GB"), "1g.5gb"), Decimal(4864));
  EXPECT_EQ(slice_memory_mib(*find_gpu_figures("GB200"), "3g.93gb"), Decimal(189471, 2));  // not known: its share
}

TEST(SourceTiers, HaveThePricesOfTheReferencePage) {
  const auto prices = [](std::string_view source) {
    std::string text;
    const auto tiers = source_tiers(source);
    for (const Tier& tier : tiers.value()) text += tier.name + " " + tier.usd_per_hour.to_string() + " ";
    return text;
  };
  EXPECT_EQ(prices("gavel"), "k80 0.45 p100 1.46 v100 2.48 ");
  EXPECT_EQ(prices("sia"), "aws 0.526 rtx 0.7 quad 1.1 dgx-ext 2.744 ");
  EXPECT_EQ(prices("miso"), "1g 0.392 2g 0.784 3g 1.372 4g 1.568 7g 2.744 ");
  EXPECT_EQ(prices("parvagpu"), "1g 3673/7000 2g 3673/3500 3g 1.8365 4g 3673/1750 7g 3.673 ");
  EXPECT_FALSE(source_tiers("csv").has_value());
}

}  // namespace
}  // namespace berth::tier
