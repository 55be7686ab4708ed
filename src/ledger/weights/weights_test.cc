#include "ledger/weights/weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "domain/mig/catalogue.h"

namespace berth::ledger {
namespace {

using Pairs = std::vector<std::pair<std::string, std::int64_t>>;

GpuModel gpu(std::string_view name) { return *mig::find_gpu_model(name); }

Pairs named_weights(const GpuModel& model) {
  Pairs pairs;
  for (const ProfileWeight& each : weights_of(model)) {
    pairs.emplace_back(profile_name(model, each.profile), each.weight);
  }
  return pairs;
}

std::string text_of(const GpuModel& model, const LayoutWeight& layout) {
  std::string text;
  for (const ProfileId profile : layout.profiles) {
    text += (text.empty() ? "" : " + ") + profile_name(model, profile);
  }
  return text + " = " + std::to_string(layout.weight);
}

std::string message_of(const Result<std::int64_t>& result) { return result ? "no error" : result.error().message; }

TEST(Weights, OfAnA100Are56ths) {
  EXPECT_EQ(capacity_of(gpu("A100-80GB")), 56);
  EXPECT_EQ(named_weights(gpu("A100-80GB")), (Pairs{{"1g.10gb", 8},
                                                    {"1g.10gb+me", 8},
                                                    {"1g.20gb", 14},
                                                    {"2g.20gb", 16},
                                                    {"3g.40gb", 28},
                                                    {"4g.40gb", 32},
                                                    {"7g.80gb", 56},
                                                    {"full", 56}}));
}

TEST(Weights, OfAnA30AreQuarters) {
  EXPECT_EQ(capacity_of(gpu("A30")), 4);
  EXPECT_EQ(named_weights(gpu("A30")),
            (Pairs{{"1g.6gb", 1}, {"1g.6gb+me", 1}, {"2g.12gb", 2}, {"2g.12gb+me", 2}, {"4g.24gb", 4}, {"full", 4}}));
}

TEST(Weights, OfAnRtxPro6000CountThreeMemorySlicesForEachComputeSlice) {
  EXPECT_EQ(capacity_of(gpu("RTX")), 12);
  EXPECT_EQ(named_weights(gpu("RTX")), (Pairs{{"1g.24gb", 3},
                                              {"1g.24gb+me", 3},
                                              {"1g.24gb+gfx", 3},
                                              {"1g.24gb+me.all", 3},
                                              {"1g.24gb-me", 3},
                                              {"2g.48gb", 6},
                                              {"2g.48gb+gfx", 6},
                                              {"2g.48gb+me.all", 6},
                                              {"2g.48gb-me", 6},
                                              {"4g.96gb", 12},
                                              {"4g.96gb+gfx", 12},
                                              {"full", 12}}));
}

TEST(Weights, SayWhichShareDecides) {
  const GpuModel a100 = gpu("A100-80GB");
  const auto of = [&](std::string_view name) { return weight_of(a100, *mig::find_profile(a100, name)); };
  EXPECT_EQ(of("1g.10gb").dominance, Dominance::kCompute);
  EXPECT_EQ(of("1g.20gb").dominance, Dominance::kMemory);
  EXPECT_EQ(of("2g.20gb").dominance, Dominance::kCompute);
  EXPECT_EQ(of("3g.40gb").dominance, Dominance::kMemory);
  EXPECT_EQ(of("4g.40gb").dominance, Dominance::kCompute);
  EXPECT_EQ(of("7g.80gb").dominance, Dominance::kBoth);
  EXPECT_EQ(of("full").dominance, Dominance::kBoth);
  EXPECT_FALSE(of("3g.40gb").is_unverified);
  const GpuModel h200 = gpu("H200");
  EXPECT_TRUE(weight_of(h200, *mig::find_profile(h200, "3g.71gb")).is_unverified);
}

/// The definition by cross-multiplication: at least both shares, and equal to one of them.
TEST(Weights, AreTheLargerShareOnEveryModel) {
  for (const GpuModel& model : mig::gpu_models()) {
    if (!model.is_mig_capable()) continue;
    const std::int64_t capacity = capacity_of(model);
    EXPECT_EQ(capacity % model.compute_slices, 0) << model.name;
    EXPECT_EQ(capacity % model.units, 0) << model.name;
    for (const ProfileWeight& each : weights_of(model)) {
      const std::int64_t by_compute = each.weight * model.compute_slices - capacity * each.compute_slices;
      const std::int64_t by_memory = each.weight * model.units - capacity * each.memory_slices;
      EXPECT_GE(by_compute, 0) << model.name << " " << profile_name(model, each.profile);
      EXPECT_GE(by_memory, 0) << model.name << " " << profile_name(model, each.profile);
      EXPECT_EQ(each.dominance == Dominance::kCompute, by_compute == 0 && by_memory > 0);
      EXPECT_EQ(each.dominance == Dominance::kMemory, by_memory == 0 && by_compute > 0);
      EXPECT_EQ(each.dominance == Dominance::kBoth, by_memory == 0 && by_compute == 0);
    }
  }
}

TEST(Weights, OfVariantsAreThoseOfTheirProfile) {
  for (const GpuModel& model : mig::gpu_models()) {
    for (const ProfileWeight& each : weights_of(model)) {
      const std::string name = profile_name(model, each.profile);
      const auto base = mig::find_profile(model, name.substr(0, name.find_first_of("+-")));
      ASSERT_TRUE(base) << name;
      EXPECT_EQ(each.weight, weight_of(model, *base).weight) << model.name << " " << name;
    }
  }
}

TEST(Weights, WithoutMigThereIsTheWholeGpuInThousandths) {
  EXPECT_EQ(capacity_of(gpu("T4")), 1000);
  EXPECT_EQ(weights_of(gpu("T4")), (std::vector<ProfileWeight>{{.profile = ProfileId::full(), .weight = 1000}}));
  EXPECT_TRUE(layouts_over_capacity(gpu("T4")).empty());
}

TEST(WeightOfShare, IsTheFractionWhereThatIsWhole) {
  EXPECT_EQ(weight_of_share({.part = 1, .whole = 1}, 56), 56);
  EXPECT_EQ(weight_of_share({.part = 1, .whole = 4}, 56), 14);
  EXPECT_EQ(weight_of_share({.part = 25, .whole = 100}, 56), 14);
  EXPECT_EQ(weight_of_share({.part = 3, .whole = 7}, 56), 24);
  EXPECT_EQ(weight_of_share({.part = 37, .whole = 100}, kCapacityWithoutMig), 370);
  EXPECT_EQ(weight_of_share({.part = 999'999, .whole = 1'000'000}, kCapacityMax), 999'999);
}

TEST(WeightOfShare, NamesACapacityThatHoldsTheOthers) {
  EXPECT_EQ(message_of(weight_of_share({.part = 1, .whole = 10}, 56)),
            "wanted a share that is whole in a capacity of 56, found 1/10; in a capacity of 280 it is 28");
  EXPECT_EQ(message_of(weight_of_share({.part = 2, .whole = 6}, 1000)),
            "wanted a share that is whole in a capacity of 1000, found 2/6; in a capacity of 3000 it is 1000");
  EXPECT_EQ(message_of(weight_of_share({.part = 1, .whole = 999'983}, 56)),
            "wanted a share that is whole in a capacity of 56, found 1/999983");
}

TEST(WeightOfShare, RefusesWhatIsNoShare) {
  for (const SoftwareShare& share : {SoftwareShare{.part = 0, .whole = 1}, SoftwareShare{.part = -1, .whole = -1},
                                     SoftwareShare{.part = 2, .whole = 1}, SoftwareShare{.part = 1, .whole = 0},
                                     SoftwareShare{.part = 1, .whole = kCapacityMax + 1}}) {
    EXPECT_NE(message_of(weight_of_share(share, 56)).find("wanted a share above 0, at most 1, of at most 1000000"),
              std::string::npos)
        << share.part << "/" << share.whole;
  }
}

TEST(LayoutsOverCapacity, AreTheHeaviestOnes) {
  const GpuModel a100 = gpu("A100-80GB");
  const std::vector<LayoutWeight> layouts = layouts_over_capacity(a100);
  ASSERT_EQ(layouts.size(), 2U);
  EXPECT_EQ(text_of(a100, layouts[0]), "4g.40gb + 3g.40gb = 60");
  EXPECT_EQ(text_of(a100, layouts[1]), "4g.40gb + 2g.20gb + 1g.20gb = 62");
  EXPECT_TRUE(layouts_over_capacity(gpu("A30")).empty());
  EXPECT_TRUE(layouts_over_capacity(gpu("RTX")).empty());
}

/// 4g + 3g is the most that plain profiles weigh, 60 of 56; with double memory 2g, 4g and 1g reach 62.
TEST(LayoutsOverCapacity, HaveABoundOnEveryModel) {
  for (const GpuModel& model : mig::gpu_models()) {
    const std::int64_t capacity = capacity_of(model);
    EXPECT_LE(heaviest_layout(model, mig::plain_rules(model)).weight * 56, capacity * 60) << model.name;
    EXPECT_LE(heaviest_layout(model, mig::all_rules(model)).weight * 56, capacity * 62) << model.name;
  }
}

/// A second way: the sum over every legal state, maximal or not.
TEST(HeaviestLayout, IsHeavierThanEveryState) {
  const GpuModel a100 = gpu("A100-40GB");
  for (const mig::Rules& rules : {mig::plain_rules(a100), mig::all_rules(a100)}) {
    std::int64_t most = 0;
    mig::for_each_state(a100, rules, [&](const mig::State& state) {
      std::int64_t sum = 0;
      for (const mig::Placement& placement : state) sum += weight_of(a100, placement.profile).weight;
      most = std::max(most, sum);
    });
    EXPECT_EQ(heaviest_layout(a100, rules).weight, most);
  }
}

}  // namespace
}  // namespace berth::ledger
