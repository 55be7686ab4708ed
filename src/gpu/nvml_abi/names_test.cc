#include "gpu/nvml_abi/names.h"

#include <gtest/gtest.h>

#include "gpu/nvml_abi/constants.h"

namespace berth::nvml_abi {
namespace {

TEST(Names, ThereAndBack) {
  for (const NameTable table : {gpu_instance_profiles(), compute_instance_profiles(), recovery_actions()}) {
    ASSERT_FALSE(table.empty());
    for (std::uint32_t number = 0; number < table.size(); ++number) {
      EXPECT_EQ(find_number(table, find_name(table, number)), number) << find_name(table, number);
    }
    EXPECT_EQ(find_name(table, static_cast<std::uint32_t>(table.size())), "");
    EXPECT_EQ(find_number(table, ""), std::nullopt);
    EXPECT_EQ(find_number(table, "9_SLICE"), std::nullopt);
  }
}

TEST(Names, ProfilesOfNumbers) {
  EXPECT_EQ(find_name(gpu_instance_profiles(), kGpuInstanceProfile1SliceRev2), "1_SLICE_REV2");
  EXPECT_EQ(find_name(gpu_instance_profiles(), kGpuInstanceProfile7Slice), "7_SLICE");
  EXPECT_EQ(find_name(compute_instance_profiles(), kComputeInstanceProfile7Slice), "7_SLICE");
  EXPECT_EQ(find_number(gpu_instance_profiles(), "3_SLICE_GFX"), 0x11);
  EXPECT_EQ(find_name(recovery_actions(), kRecoveryActionDrainAndReset), "DRAIN_AND_RESET");
}

}  // namespace
}  // namespace berth::nvml_abi
