// The life cycle of MIG instances through the exported functions, with every handle that a client may still hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/reset.h"
#include "gpu/nvml_sim_library/exports.h"
#include "gpu/nvml_sim_library/testing/simulated.h"
#include "gpu/nvml_sim_state/testing/child.h"

namespace berth::nvml_abi {
namespace {

using edges::testing::device;
using edges::testing::run_in_child;
using edges::testing::Simulated;
using edges::testing::uuid_of;
using nvml_sim::GpuRecord;
using nvml_sim::MachineRecord;

// Ids of profiles of an H100 and an A100.
constexpr std::uint32_t kWhole = 0;
constexpr std::uint32_t kHalf = 9;  // 3g
constexpr std::uint32_t kOne = 19;  // 1g

/// A GPU instance with one compute instance that covers it, and all handles and ids of both.
struct Instance {
  GpuInstance gpu_instance = nullptr;
  ComputeInstance compute_instance = nullptr;
  Device mig_device = nullptr;
  std::uint32_t id = 99;
  std::string uuid;
};

Instance create_instance(std::uint32_t profile_id, std::uint32_t compute_profile) {
  Instance made;
  EXPECT_EQ(nvmlDeviceCreateGpuInstance(device(), profile_id, &made.gpu_instance), Code::kSuccess);
  EXPECT_EQ(nvmlGpuInstanceCreateComputeInstance(made.gpu_instance, compute_profile, &made.compute_instance),
            Code::kSuccess);
  ComputeInstanceDescriptionV2 description;
  EXPECT_EQ(nvmlComputeInstanceGetInfo_v2(made.compute_instance, &description), Code::kSuccess);
  made.mig_device = description.device;
  GpuInstanceDescription parent;
  EXPECT_EQ(nvmlGpuInstanceGetInfo(made.gpu_instance, &parent), Code::kSuccess);
  made.id = parent.id;
  made.uuid = uuid_of(made.mig_device);
  return made;
}

/// The answer for each of an instance's handles.
std::array<Code, 3> answers_of(const Instance& instance) {
  GpuInstanceDescription parent;
  ComputeInstanceDescriptionV2 description;
  std::uint32_t id = 0;
  return {nvmlGpuInstanceGetInfo(instance.gpu_instance, &parent),
          nvmlComputeInstanceGetInfo_v2(instance.compute_instance, &description),
          nvmlDeviceGetGpuInstanceId(instance.mig_device, &id)};
}
constexpr std::array<Code, 3> kAllGood = {Code::kSuccess, Code::kSuccess, Code::kSuccess};
constexpr std::array<Code, 3> kAllGone = {Code::kInvalidArgument, Code::kInvalidArgument, Code::kInvalidArgument};

void destroy(const Instance& instance) {
  EXPECT_EQ(nvmlComputeInstanceDestroy(instance.compute_instance), Code::kSuccess);
  EXPECT_EQ(nvmlGpuInstanceDestroy(instance.gpu_instance), Code::kSuccess);
}

class ExportsMig : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(nvmlInit_v2(), Code::kSuccess); }
  Simulated machine_{{"H100-80GB-SXM5", "A100-40GB", "T4"}};
};

TEST_F(ExportsMig, AWholeLife) {
  machine_.change(0, [](GpuRecord& gpu) { gpu.is_mig_on = gpu.is_mig_pending_on = 0; });
  const Device gpu = device();
  std::uint32_t current = 9;
  std::uint32_t pending = 9;
  Code activation = Code::kUnknown;
  GpuInstance refused = nullptr;
  EXPECT_EQ(nvmlDeviceCreateGpuInstance(gpu, kHalf, &refused), Code::kNotSupported) << "the mode is off";
  EXPECT_EQ(nvmlDeviceSetMigMode(gpu, kMigEnabled, &activation), Code::kSuccess);
  EXPECT_EQ(activation, Code::kSuccess);
  EXPECT_EQ(nvmlDeviceGetMigMode(gpu, &current, &pending), Code::kSuccess);
  EXPECT_EQ(current, kMigEnabled);
  EXPECT_EQ(pending, kMigEnabled);

  const Instance half = create_instance(kHalf, kComputeInstanceProfile3Slice);
  EXPECT_EQ(answers_of(half), kAllGood);
  std::uint32_t answer = 0;
  Device parent = nullptr;
  EXPECT_EQ(nvmlDeviceIsMigDeviceHandle(half.mig_device, &answer), Code::kSuccess);
  EXPECT_EQ(answer, 1U);
  EXPECT_EQ(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(half.mig_device, &parent), Code::kSuccess);
  EXPECT_EQ(parent, gpu);
  EXPECT_EQ(nvmlDeviceGetComputeInstanceId(half.mig_device, &answer), Code::kSuccess);
  EXPECT_EQ(answer, 0U);
  AttributesV2 attributes;
  EXPECT_EQ(nvmlDeviceGetAttributes_v2(half.mig_device, &attributes), Code::kSuccess);
  EXPECT_EQ(attributes.gpu_instance_slices, 3U);
  EXPECT_EQ(attributes.memory_mib, 40'448U);
  std::uint32_t count = 0;
  GpuInstance listed[8] = {};
  EXPECT_EQ(nvmlDeviceGetGpuInstances(gpu, kHalf, listed, &count), Code::kSuccess);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(listed[0], half.gpu_instance);

  EXPECT_EQ(nvmlGpuInstanceDestroy(half.gpu_instance), Code::kInUse) << "its compute instance is left";
  EXPECT_EQ(nvmlDeviceSetMigMode(gpu, kMigDisabled, &activation), Code::kInUse);
  machine_.change(0, [&](GpuRecord& record) {
    ASSERT_TRUE(nvml_sim::add_process(record, {.pid = 7, .gpu_instance = half.id, .compute_instance = 0}));
  });
  EXPECT_EQ(nvmlComputeInstanceDestroy(half.compute_instance), Code::kInUse) << "a process is on it";
  machine_.change(0, [](GpuRecord& record) { ASSERT_TRUE(nvml_sim::remove_process(record, 7)); });
  destroy(half);
  EXPECT_EQ(answers_of(half), kAllGone);
  EXPECT_EQ(nvmlDeviceSetMigMode(gpu, kMigDisabled, &activation), Code::kSuccess);
}

TEST_F(ExportsMig, EveryKindOfChangeIsCountedWhetherItIsCarriedOutOrNot) {
  const Device gpu = device();
  std::uint64_t count = 0;
  const auto counts = [&](Code code, Code wanted) {
    EXPECT_EQ(code, wanted);
    EXPECT_EQ(machine_.gpu(0).changing_calls, ++count);
  };
  Code activation = Code::kSuccess;
  GpuInstance instance = nullptr;
  GpuInstance second = nullptr;
  ComputeInstance compute = nullptr;
  const GpuInstancePlacement place{0, 4};
  const GpuInstancePlacement illegal{1, 4};
  const ComputeInstancePlacement compute_place{0, 1};
  const ComputeInstancePlacement compute_illegal{0, 3};
  counts(nvmlDeviceSetMigMode(gpu, kMigEnabled, &activation), Code::kSuccess);
  counts(nvmlDeviceCreateGpuInstanceWithPlacement(gpu, kHalf, &illegal, &instance), Code::kInvalidArgument);
  counts(nvmlDeviceCreateGpuInstanceWithPlacement(gpu, kHalf, &place, &instance), Code::kSuccess);
  counts(nvmlDeviceCreateGpuInstanceWithPlacement(gpu, kHalf, &place, &second), Code::kInsufficientResources);
  counts(nvmlDeviceCreateGpuInstance(gpu, kWhole, &second), Code::kInsufficientResources);
  counts(nvmlDeviceCreateGpuInstance(gpu, 77, &second), Code::kInvalidArgument);
  counts(nvmlDeviceCreateGpuInstance(gpu, kHalf, &second), Code::kSuccess);
  counts(nvmlGpuInstanceCreateComputeInstanceWithPlacement(instance, 0, &compute_illegal, &compute),
         Code::kInvalidArgument);
  counts(nvmlGpuInstanceCreateComputeInstanceWithPlacement(instance, 0, &compute_place, &compute), Code::kSuccess);
  counts(nvmlGpuInstanceDestroy(instance), Code::kInUse);
  counts(nvmlComputeInstanceDestroy(compute), Code::kSuccess);
  counts(nvmlGpuInstanceCreateComputeInstance(instance, 0, &compute), Code::kSuccess);
  counts(nvmlDeviceSetMigMode(gpu, kMigDisabled, &activation), Code::kInUse);

  EXPECT_EQ(nvmlDeviceSetMigMode(gpu, 2, &activation), Code::kInvalidArgument);
  EXPECT_EQ(nvmlDeviceCreateGpuInstance(gpu, kOne, nullptr), Code::kInvalidArgument);
  EXPECT_EQ(nvmlDeviceCreateGpuInstanceWithPlacement(gpu, kOne, nullptr, &second), Code::kInvalidArgument);
  EXPECT_EQ(machine_.gpu(0).changing_calls, count) << "wrong arguments reach no device";
  EXPECT_EQ(machine_.gpu(1).changing_calls, 0U);
}

TEST_F(ExportsMig, HandlesOfAnInstanceDoNotStandForTheNextOneWithItsIds) {
  const Instance before = create_instance(kHalf, kComputeInstanceProfile3Slice);
  destroy(before);
  const Instance after = create_instance(kHalf, kComputeInstanceProfile3Slice);
  EXPECT_EQ(after.id, before.id);
  EXPECT_EQ(after.uuid, before.uuid) << "UUIDs come back";
  EXPECT_EQ(answers_of(before), kAllGone);
  EXPECT_EQ(answers_of(after), kAllGood);
  EXPECT_EQ(nvmlComputeInstanceDestroy(before.compute_instance), Code::kInvalidArgument);
  EXPECT_EQ(nvmlGpuInstanceDestroy(before.gpu_instance), Code::kInvalidArgument);
  EXPECT_EQ(answers_of(after), kAllGood);
}

TEST_F(ExportsMig, WhatOthersDestroyedAndMadeAgainIsAnotherInstance) {
  const Instance before = create_instance(kHalf, kComputeInstanceProfile3Slice);
  EXPECT_EQ(run_in_child([&] {
              if (nvmlInit_v2() != Code::kSuccess) return 1;
              GpuInstance instance = nullptr;
              ComputeInstance compute = nullptr;
              if (nvmlDeviceGetGpuInstanceById(device(), before.id, &instance) != Code::kSuccess) return 2;
              if (nvmlGpuInstanceGetComputeInstanceById(instance, 0, &compute) != Code::kSuccess) return 3;
              if (nvmlComputeInstanceDestroy(compute) != Code::kSuccess) return 4;
              if (nvmlGpuInstanceDestroy(instance) != Code::kSuccess) return 5;
              if (nvmlDeviceCreateGpuInstance(device(), kHalf, &instance) != Code::kSuccess) return 6;
              return nvmlGpuInstanceCreateComputeInstance(instance, 2, &compute) == Code::kSuccess ? 0 : 7;
            }),
            0);
  EXPECT_EQ(answers_of(before), kAllGone);
  Device found = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(before.uuid.c_str(), &found), Code::kSuccess);
  EXPECT_EQ(machine_.gpu(0).changing_calls, 6U);
}

TEST_F(ExportsMig, AResetEndsInstancesAndTheirHandlesAndARebootTheGpus) {
  const Device gpu = device();
  const Instance before = create_instance(kHalf, kComputeInstanceProfile3Slice);
  machine_.change(0, [](GpuRecord& record) { nvml_sim::reset_gpu(record); });
  EXPECT_EQ(answers_of(before), kAllGone);
  std::uint32_t index = 9;
  EXPECT_EQ(nvmlDeviceGetIndex(gpu, &index), Code::kSuccess);
  const Instance after = create_instance(kHalf, kComputeInstanceProfile3Slice);
  EXPECT_EQ(after.uuid, before.uuid);
  EXPECT_EQ(answers_of(before), kAllGone);

  machine_.change_machine([](MachineRecord& machine) { nvml_sim::reboot(machine, "another", 1); });
  EXPECT_EQ(answers_of(after), kAllGone);
  EXPECT_EQ(nvmlDeviceGetIndex(gpu, &index), Code::kInvalidArgument);
  EXPECT_EQ(device(), gpu);
  std::uint32_t current = 9;
  std::uint32_t pending = 9;
  EXPECT_EQ(nvmlDeviceGetMigMode(gpu, &current, &pending), Code::kSuccess);
  EXPECT_EQ(current, kMigDisabled) << "Hopper forgets the mode";
}

TEST_F(ExportsMig, AmpereTakesANewModeAtItsReset) {
  machine_.change(1, [](GpuRecord& gpu) { gpu.is_mig_on = gpu.is_mig_pending_on = 0; });
  Code activation = Code::kSuccess;
  std::uint32_t current = 9;
  std::uint32_t pending = 9;
  EXPECT_EQ(nvmlDeviceSetMigMode(device(1), kMigEnabled, &activation), Code::kSuccess);
  EXPECT_EQ(activation, Code::kResetRequired);
  EXPECT_EQ(nvmlDeviceGetMigMode(device(1), &current, &pending), Code::kSuccess);
  EXPECT_EQ(current, kMigDisabled);
  EXPECT_EQ(pending, kMigEnabled);
  machine_.change(1, [](GpuRecord& gpu) { nvml_sim::reset_gpu(gpu); });
  EXPECT_EQ(nvmlDeviceGetMigMode(device(1), &current, &pending), Code::kSuccess);
  EXPECT_EQ(current, kMigEnabled);
}

TEST_F(ExportsMig, HandlesAreForTheirKind) {
  const Instance half = create_instance(kHalf, kComputeInstanceProfile3Slice);
  const Device gpu = device();
  std::uint32_t number = 0;
  Device found = nullptr;
  GpuInstanceDescription parent;
  ComputeInstanceDescriptionV2 description;
  GpuInstance made = nullptr;
  // As measured on a whole GPU.
  EXPECT_EQ(nvmlDeviceGetGpuInstanceId(gpu, &number), Code::kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetComputeInstanceId(gpu, &number), Code::kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(gpu, &found), Code::kInvalidArgument);
  AttributesV2 attributes;
  EXPECT_EQ(nvmlDeviceGetAttributes_v2(gpu, &attributes), Code::kNotSupported);
  EXPECT_EQ(nvmlDeviceCreateGpuInstance(half.mig_device, kOne, &made), Code::kInvalidArgument);
  EXPECT_EQ(nvmlGpuInstanceGetInfo(reinterpret_cast<GpuInstance>(half.compute_instance), &parent),
            Code::kInvalidArgument);
  EXPECT_EQ(nvmlGpuInstanceGetInfo(reinterpret_cast<GpuInstance>(gpu), &parent), Code::kInvalidArgument);
  EXPECT_EQ(nvmlComputeInstanceGetInfo_v2(reinterpret_cast<ComputeInstance>(half.gpu_instance), &description),
            Code::kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetIndex(reinterpret_cast<Device>(half.gpu_instance), &number), Code::kInvalidArgument);
}

TEST_F(ExportsMig, WithTheModeOffTheGpuAnswersAsIfItWereEmpty) {
  machine_.change(0, [](GpuRecord& gpu) { gpu.is_mig_on = gpu.is_mig_pending_on = 0; });
  const Device gpu = device();
  std::uint32_t count = 9;
  GpuInstance instances[8] = {};
  Device found = nullptr;
  EXPECT_EQ(nvmlDeviceGetMaxMigDeviceCount(gpu, &count), Code::kSuccess);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(nvmlDeviceGetMigDeviceHandleByIndex(gpu, 0, &found), Code::kNotFound);
  EXPECT_EQ(nvmlDeviceGetGpuInstanceById(gpu, 1, instances), Code::kNotFound);
  count = 8;
  EXPECT_EQ(nvmlDeviceGetGpuInstances(gpu, kHalf, instances, &count), Code::kSuccess);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(nvmlDeviceGetGpuInstances(gpu, 77, instances, &count), Code::kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetGpuInstanceRemainingCapacity(gpu, kOne, &count), Code::kSuccess);
  EXPECT_EQ(count, 7U);
  EXPECT_EQ(nvmlDeviceGetGpuInstanceRemainingCapacity(gpu, 77, &count), Code::kInvalidArgument);
}

TEST_F(ExportsMig, PlacementsAreWrittenWhateverCountComesIn) {
  std::uint32_t count = 0;
  ASSERT_EQ(nvmlDeviceGetGpuInstancePossiblePlacements_v2(device(), kOne, nullptr, &count), Code::kSuccess);
  ASSERT_EQ(count, 7U);
  std::vector<GpuInstancePlacement> places(8);
  count = 1;  // ignored, as measured
  EXPECT_EQ(nvmlDeviceGetGpuInstancePossiblePlacements(device(), kOne, places.data(), &count), Code::kSuccess);
  EXPECT_EQ(count, 7U);
  EXPECT_EQ(places[6].start, 6U);
  EXPECT_EQ(places[7].size, 0U);
}

TEST_F(ExportsMig, ProfilesAreDescribedInEveryVersion) {
  const Device gpu = device();
  GpuInstanceProfileV1 first;
  EXPECT_EQ(nvmlDeviceGetGpuInstanceProfileInfo(gpu, kGpuInstanceProfile1Slice, &first), Code::kSuccess);
  EXPECT_EQ(first.id, kOne);
  EXPECT_EQ(first.memory_mib, 9'984U);
  struct {
    GpuInstanceProfileV3 description;
    char behind = '#';
  } guarded;
  auto* const description = reinterpret_cast<GpuInstanceProfileV2*>(&guarded.description);
  description->version = version_of<GpuInstanceProfileV2>(2);
  EXPECT_EQ(nvmlDeviceGetGpuInstanceProfileInfoV(gpu, kGpuInstanceProfile1Slice, description), Code::kSuccess);
  EXPECT_EQ(description->version, 0U) << "the driver clears it, as measured";
  EXPECT_STREQ(description->name, "MIG 1g.10gb");
  EXPECT_EQ(nvmlDeviceGetGpuInstanceProfileInfoV(gpu, kGpuInstanceProfile1Slice, description), Code::kInvalidArgument);
  guarded.description.version = version_of<GpuInstanceProfileV3>(3);
  EXPECT_EQ(nvmlDeviceGetGpuInstanceProfileInfoByIdV(gpu, kOne, description), Code::kSuccess);
  EXPECT_EQ(guarded.description.multiprocessors, first.multiprocessors);
  EXPECT_EQ(guarded.behind, '#');
  for (std::uint32_t profile = 0; profile < kGpuInstanceProfileCount; ++profile) {
    const bool exists = profile <= kGpuInstanceProfile7Slice || profile == kGpuInstanceProfile1SliceRev1 ||
                        profile == kGpuInstanceProfile1SliceRev2;
    EXPECT_EQ(nvmlDeviceGetGpuInstanceProfileInfo(gpu, profile, &first), exists ? Code::kSuccess : Code::kNotSupported)
        << profile;
  }
  EXPECT_EQ(nvmlDeviceGetGpuInstanceProfileInfo(gpu, kGpuInstanceProfileCount, &first), Code::kInvalidArgument);
}

TEST_F(ExportsMig, AModelWithoutMigSupportsNothingOfIt) {
  const Device gpu = device(2);
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  std::uint32_t count = 8;
  Code activation = Code::kSuccess;
  GpuInstanceProfileV1 description;
  GpuInstance instances[8] = {};
  EXPECT_EQ(nvmlDeviceGetMigMode(gpu, &current, &pending), Code::kNotSupported);
  EXPECT_EQ(nvmlDeviceSetMigMode(gpu, kMigEnabled, &activation), Code::kNotSupported);
  EXPECT_EQ(nvmlDeviceGetGpuInstanceProfileInfo(gpu, 0, &description), Code::kNotSupported);
  EXPECT_EQ(nvmlDeviceGetGpuInstances(gpu, kOne, instances, &count), Code::kNotSupported);
  EXPECT_EQ(nvmlDeviceCreateGpuInstance(gpu, kOne, instances), Code::kNotSupported);
  EXPECT_EQ(machine_.gpu(2).changing_calls, 2U);
}

TEST_F(ExportsMig, MigDevicesAreListedByIndex) {
  std::array<Instance, 3> made;
  for (Instance& instance : made) instance = create_instance(kOne, kComputeInstanceProfile1Slice);
  std::vector<Device> listed;
  Device found = nullptr;
  for (std::uint32_t index = 0; nvmlDeviceGetMigDeviceHandleByIndex(device(), index, &found) == Code::kSuccess;
       ++index) {
    listed.push_back(found);
    std::uint32_t index_read = 99;
    EXPECT_EQ(nvmlDeviceGetIndex(found, &index_read), Code::kSuccess);
    EXPECT_EQ(index_read, index);
  }
  ASSERT_EQ(listed.size(), 3U);
  for (const Instance& instance : made) EXPECT_EQ(std::ranges::count(listed, instance.mig_device), 1);
  std::uint32_t count = 0;
  EXPECT_EQ(nvmlDeviceGetMaxMigDeviceCount(device(), &count), Code::kSuccess);
  EXPECT_EQ(count, 7U);
}

}  // namespace
}  // namespace berth::nvml_abi
