#include "domain/values/gpu.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

MigProfile profile(std::string name, int compute_slices, std::optional<int> sms) {
  MigProfile made;
  made.name = std::move(name);
  made.compute_slices = compute_slices;
  made.sms = sms;
  return made;
}

GpuModel cut_gpu() {
  GpuModel cut;
  cut.compute_slices = 7;
  cut.sms = 108;
  cut.profiles = {profile("1g", 1, 14), profile("3g", 3, std::nullopt), profile("9g", 9, std::nullopt)};
  return cut;
}

TEST(GpuModel, SmsOfProfilesAreKnownOrEstimatedAndNeverMoreThanTheGpuHas) {
  GpuModel model = cut_gpu();
  EXPECT_EQ(profile_sms(model, {0}), 14);
  EXPECT_EQ(profile_sms(model, {1}), 42);
  EXPECT_EQ(profile_sms(model, {2}), 108);
  EXPECT_EQ(profile_sms(model, ProfileId::full()), 108);
  model.profiles[0].sms.reset();
  EXPECT_EQ(profile_sms(model, {1}), 108 * 3 / 7);
}

TEST(GpuModel, ProfilesHaveNames) {
  const GpuModel model = cut_gpu();
  EXPECT_EQ(profile_name(model, {1}), "3g");
  EXPECT_EQ(profile_name(model, ProfileId::full()), "full");
}

}  // namespace
}  // namespace berth
