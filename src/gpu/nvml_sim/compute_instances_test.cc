#include "gpu/nvml_sim/compute_instances.h"

#include <gtest/gtest.h>

#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/testing/gpus.h"

namespace berth::nvml_sim {
namespace {

using nvml_abi::Code;
using testing::gpu_of;
using testing::kRoot;
using testing::profile_id;

struct WithInstance {
  GpuRecord gpu;
  int id = 0;
};
WithInstance with_instance(std::string_view model, std::string_view profile) {
  WithInstance made{.gpu = gpu_of(model)};
  made.id = create_gpu_instance(made.gpu, profile_id(made.gpu, profile), {}, kRoot).value();
  return made;
}

// The listing of a 3g of an A100-40GB in NVIDIA's guide.
TEST(ComputeInstances, ProfilesOfThreeSlices) {
  const auto [gpu, id] = with_instance("A100-40GB", "3g.20gb");
  const auto expect = [&](std::uint32_t number, const char* name, int most, int sms) {
    const ComputeProfile profile = compute_profile(gpu, id, number).value();
    EXPECT_EQ(profile.name, name);
    EXPECT_EQ(profile.id, number);
    EXPECT_EQ(profile.instances_max, most);
    EXPECT_EQ(profile.sms, sms);
  };
  expect(0, "MIG 1c.3g.20gb", 3, 14);
  expect(1, "MIG 2c.3g.20gb", 1, 28);
  expect(2, "MIG 3g.20gb", 1, 42);
  EXPECT_EQ(compute_profile(gpu, id, 3).error(), Code::kNotSupported);
  EXPECT_EQ(compute_profile(gpu, id, 9).error(), Code::kInvalidArgument);
  EXPECT_EQ(compute_placements(gpu, id, 3).error(), Code::kInvalidArgument);
}

TEST(ComputeInstances, TakeTheFirstFreeSlicesAndTheLowestId) {
  auto [gpu, id] = with_instance("A100-40GB", "3g.20gb");
  EXPECT_EQ(create_compute_instance(gpu, id, 0, {}, kRoot), 0);
  EXPECT_EQ(create_compute_instance(gpu, id, 0, {}, kRoot), 1);
  EXPECT_EQ(remaining_compute_capacity(gpu, id, 0), 1);
  EXPECT_EQ(create_compute_instance(gpu, id, 1, {}, kRoot).error(), Code::kInsufficientResources);
  EXPECT_EQ(destroy_compute_instance(gpu, id, 0, kRoot), Code::kSuccess);
  EXPECT_EQ(create_compute_instance(gpu, id, 0, Interval{2, 1}, kRoot), 0);
  EXPECT_EQ(create_compute_instance(gpu, id, 0, Interval{1, 1}, kRoot).error(), Code::kInsufficientResources);
  EXPECT_EQ(create_compute_instance(gpu, id, 0, Interval{3, 1}, kRoot).error(), Code::kInvalidArgument);
  EXPECT_EQ(compute_instances_of(gpu, id, 0).value(), (std::vector<int>{0, 1}));
  EXPECT_EQ(mig_devices(gpu), (std::vector<MigDevice>{{id, 0}, {id, 1}}));
}

TEST(ComputeInstances, SlicesFollowEachOther) {
  auto [gpu, id] = with_instance("A100-40GB", "7g.40gb");
  EXPECT_EQ(compute_placements(gpu, id, 2).value(), (std::vector<Interval>{{0, 3}, {1, 3}, {2, 3}, {3, 3}, {4, 3}}));
  EXPECT_EQ(create_compute_instance(gpu, id, 0, Interval{1, 1}, kRoot), 0);
  EXPECT_EQ(create_compute_instance(gpu, id, 2, {}, kRoot), 1);
  EXPECT_EQ(compute_place_of(gpu, id, 1), (Interval{2, 3}));
}

// As listed: 1c, then 2c in one 3g of an A100 and of an H200; a 3g is 0:3 on an A100, 0:4 on an H100.
TEST(ComputeInstances, BeginWhereTheDriverPutsThem) {
  const auto places = [](std::string_view model, std::string_view profile, const std::vector<std::uint32_t>& kinds) {
    auto [gpu, id] = with_instance(model, profile);
    std::vector<Interval> made;
    for (const std::uint32_t kind : kinds) {
      made.push_back(compute_place_of(gpu, id, create_compute_instance(gpu, id, kind, {}, kRoot).value()));
    }
    return made;
  };
  EXPECT_EQ(places("A100-80GB", "3g.40gb", {0, 1}), (std::vector<Interval>{{0, 1}, {1, 2}}));
  EXPECT_EQ(places("H200-141GB", "3g.71gb", {0, 1}), (std::vector<Interval>{{2, 1}, {0, 2}}));
  EXPECT_EQ(places("A100-40GB", "3g.20gb", {2}), (std::vector<Interval>{{0, 3}}));
  EXPECT_EQ(places("H100-80GB-SXM5", "3g.40gb", {2}), (std::vector<Interval>{{0, 4}}));
}

TEST(ComputeInstances, UuidsComeBackWithTheirIds) {
  auto [gpu, id] = with_instance("A100-40GB", "3g.20gb");
  ASSERT_EQ(create_compute_instance(gpu, id, 2, {}, kRoot), 0);
  const std::string whole = mig_uuid(gpu, {id, 0});
  ASSERT_EQ(destroy_compute_instance(gpu, id, 0, kRoot), Code::kSuccess);
  ASSERT_EQ(create_compute_instance(gpu, id, 0, {}, kRoot), 0);
  EXPECT_EQ(mig_uuid(gpu, {id, 0}), whole);
  EXPECT_NE(mig_uuid(gpu, {id, 1}), whole);
  EXPECT_EQ(gpu.gpu_instances[id].compute_instances[0].generation, 3U);
}

}  // namespace
}  // namespace berth::nvml_sim
