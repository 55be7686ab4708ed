#include "domain/mig/compute_instance.h"

#include <gtest/gtest.h>

#include "domain/mig/catalogue.h"

namespace berth::mig {
namespace {

std::vector<ComputeProfile> profiles(std::string_view gpu, std::string_view profile) {
  const GpuModel model = *find_gpu_model(gpu);
  return compute_profiles(model, *find_profile(model, profile));
}

std::string names(const std::vector<ComputeProfile>& found) {
  std::string text;
  for (const ComputeProfile& profile : found) text += profile.name + " ";
  return text;
}

// The listing of the MIG User Guide.
TEST(ComputeProfiles, ThreeSlicesOfAnA100) {
  const std::vector<ComputeProfile> expected = {
      {"1c.3g.20gb", 1, 3, 14, false}, {"2c.3g.20gb", 2, 1, 28, false}, {"3g.20gb", 3, 1, 42, false}};
  EXPECT_EQ(profiles("A100-40GB", "3g.20gb"), expected);
}

TEST(ComputeProfiles, FollowTheSlicesElsewhere) {
  EXPECT_EQ(names(profiles("A100-80GB", "7g.80gb")), "1c.7g.80gb 2c.7g.80gb 3c.7g.80gb 4c.7g.80gb 7g.80gb ");
  EXPECT_EQ(names(profiles("RTX", "1g.24gb+me.all")), "1g.24gb+me.all ");
  EXPECT_TRUE(profiles("H100-80GB", "3g.40gb").front().is_unverified);
  EXPECT_EQ(profiles("H100-80GB", "3g.40gb").front().sms, 20);
  EXPECT_EQ(profiles("B200", "3g.90gb").front().sms, std::nullopt);
}

TEST(FindComputeClash, AddsUpTheSlices) {
  const GpuModel a100 = *find_gpu_model("A100-40GB");
  const ProfileId three = *find_profile(a100, "3g.20gb");
  EXPECT_EQ(find_compute_clash(a100, three, std::vector<int>{1, 2}), std::nullopt);
  EXPECT_EQ(find_compute_clash(a100, three, std::vector<int>{}), std::nullopt);
  EXPECT_EQ(find_compute_clash(a100, three, std::vector<int>{2, 2}),
            "3g.20gb has 3 compute slices, its compute instances need 4");
  EXPECT_EQ(find_compute_clash(a100, three, std::vector<int>{4}), "3g.20gb has no compute instance of 4 slices");
  EXPECT_EQ(find_compute_clash(a100, three, std::vector<int>{0}), "3g.20gb has no compute instance of 0 slices");
}

}  // namespace
}  // namespace berth::mig
