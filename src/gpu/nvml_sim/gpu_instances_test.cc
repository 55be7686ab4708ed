#include "gpu/nvml_sim/gpu_instances.h"

#include <gtest/gtest.h>

#include "domain/mig/catalogue.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/testing/gpus.h"

namespace berth::nvml_sim {
namespace {

using nvml_abi::Code;
using testing::gpu_of;
using testing::kRoot;
using testing::profile_id;

constexpr Caller kAnybody = {.may_change = false};

TEST(GpuInstances, EveryPlacementOfEveryModelCanBeMadeAloneAndIsFound) {
  for (const GpuModel& model : mig::gpu_models()) {
    for (const MigProfile& profile : model.profiles) {
      for (const int start : profile.starts) {
        GpuRecord gpu = gpu_of(model.name);
        const auto wanted = static_cast<std::uint32_t>(profile.device_profile_id);
        const Answer<int> id = create_gpu_instance(gpu, wanted, Interval{start, profile.length}, kRoot);
        ASSERT_TRUE(id.has_value()) << model.name << " " << profile.name << "@" << start;
        EXPECT_LT(*id, kGpuInstancesMax);
        EXPECT_EQ(place_of(gpu, *id), (Interval{start, profile.length}));
        EXPECT_EQ(gpu_instances_of(gpu, wanted).value(), std::vector<int>{*id});
        EXPECT_EQ(remaining_capacity(gpu, wanted).value(), profile.instances_max - 1)
            << model.name << " " << profile.name;
        EXPECT_EQ(destroy_gpu_instance(gpu, *id, kRoot), Code::kSuccess);
        EXPECT_FALSE(has_instances(gpu));
      }
    }
  }
}

TEST(GpuInstances, IdsAreThePlacesInTheTreeOfHalves) {
  const GpuModel a100 = mig::find_gpu_model("A100-40GB").value();
  EXPECT_EQ(gpu_instance_id(a100, {0, 8}), 0);
  EXPECT_EQ(gpu_instance_id(a100, {0, 4}), 1);
  EXPECT_EQ(gpu_instance_id(a100, {4, 4}), 2);
  EXPECT_EQ(gpu_instance_id(a100, {2, 2}), 4);
  EXPECT_EQ(gpu_instance_id(a100, {6, 1}), 13);
  const GpuModel rtx = mig::find_gpu_model("RTX-PRO-6000-Blackwell-96GB").value();
  EXPECT_EQ(gpu_instance_id(rtx, {6, 6}), 2);
  EXPECT_EQ(gpu_instance_id(rtx, {9, 3}), 6);
}

TEST(GpuInstances, RefusalsComeInTheirOrder) {
  GpuRecord gpu = gpu_of("A100-80GB");
  const std::uint32_t three = profile_id(gpu, "3g.40gb");
  const auto code_of = [&](std::uint32_t profile, std::optional<Interval> place, const Caller& caller) {
    GpuRecord copy = gpu;
    const Answer<int> id = create_gpu_instance(copy, profile, place, caller);
    return id ? Code::kSuccess : id.error();
  };
  gpu.is_mig_on = 0;
  EXPECT_EQ(code_of(4242, {}, kAnybody), Code::kInvalidArgument);
  EXPECT_EQ(code_of(three, Interval{1, 4}, kAnybody), Code::kNotSupported);
  gpu.is_mig_on = 1;
  EXPECT_EQ(code_of(three, Interval{1, 4}, kAnybody), Code::kNoPermission);
  EXPECT_EQ(code_of(three, Interval{1, 4}, kRoot), Code::kInvalidArgument);
  EXPECT_EQ(code_of(three, Interval{0, 3}, kRoot), Code::kInvalidArgument);
  EXPECT_EQ(code_of(three, Interval{0, 4}, kRoot), Code::kSuccess);
  ASSERT_TRUE(create_gpu_instance(gpu, three, Interval{0, 4}, kRoot).has_value());
  EXPECT_EQ(code_of(three, Interval{0, 4}, kRoot), Code::kInsufficientResources);
  EXPECT_EQ(code_of(profile_id(gpu, "7g.80gb"), {}, kRoot), Code::kInsufficientResources);
  EXPECT_EQ(code_of(three, {}, kRoot), Code::kSuccess);
}

TEST(GpuInstances, AreInUseWhileAnythingIsLeftInThem) {
  GpuRecord gpu = gpu_of("A100-80GB");
  const int id = create_gpu_instance(gpu, profile_id(gpu, "2g.20gb"), {}, kRoot).value();
  const int compute = create_compute_instance(gpu, id, 1, {}, kRoot).value();
  ASSERT_TRUE(add_process(
      gpu, {.pid = 42, .gpu_instance = static_cast<std::uint32_t>(id), .compute_instance = 0, .memory_mib = 100}));
  EXPECT_EQ(destroy_gpu_instance(gpu, id, kAnybody), Code::kNoPermission);
  EXPECT_EQ(destroy_gpu_instance(gpu, id, kRoot), Code::kInUse);
  EXPECT_EQ(destroy_compute_instance(gpu, id, compute, kRoot), Code::kInUse);
  ASSERT_TRUE(remove_process(gpu, 42));
  EXPECT_EQ(destroy_compute_instance(gpu, id, compute, kRoot), Code::kSuccess);
  EXPECT_EQ(destroy_compute_instance(gpu, id, compute, kRoot), Code::kNotFound);
  EXPECT_EQ(destroy_gpu_instance(gpu, id, kRoot), Code::kSuccess);
  EXPECT_EQ(destroy_gpu_instance(gpu, id, kRoot), Code::kNotFound);
}

TEST(GpuInstances, TheSecondHalfHasALittleLessMemory) {
  GpuRecord gpu = gpu_of("A100-40GB");
  const int first = create_gpu_instance(gpu, profile_id(gpu, "3g.20gb"), {}, kRoot).value();
  const int second = create_gpu_instance(gpu, profile_id(gpu, "3g.20gb"), {}, kRoot).value();
  EXPECT_EQ(gpu.gpu_instances[first].memory_mib - gpu.gpu_instances[second].memory_mib, 128U);
}

TEST(GpuInstances, ProfilesByNumberAreThoseOfTheModel) {
  const GpuRecord a100 = gpu_of("A100-40GB");
  EXPECT_EQ(model_of(a100).profiles[gpu_instance_profile(a100, 9).value().index].name, "1g.10gb");
  EXPECT_EQ(gpu_instance_profile(a100, 8).error(), Code::kNotSupported);
  EXPECT_EQ(gpu_instance_profile(a100, 18).error(), Code::kInvalidArgument);
  EXPECT_EQ(gpu_instance_profile(gpu_of("T4-16GB"), 0).error(), Code::kNotSupported);
}

}  // namespace
}  // namespace berth::nvml_sim
