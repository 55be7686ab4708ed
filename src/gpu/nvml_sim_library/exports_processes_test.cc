// Lists of processes, in arrays of every size.
#include <gtest/gtest.h>

#include <vector>

#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim_library/exports.h"
#include "gpu/nvml_sim_library/testing/simulated.h"

namespace berth::nvml_abi {
namespace {

using edges::testing::device;
using edges::testing::kMib;
using edges::testing::Simulated;
using nvml_sim::GpuRecord;

class ExportsProcesses : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(nvmlInit_v2(), Code::kSuccess); }
  void add(std::uint32_t pid, std::uint32_t gpu_instance, std::uint32_t compute_instance) {
    machine_.change(0, [&](GpuRecord& gpu) {
      ASSERT_TRUE(nvml_sim::add_process(
          gpu,
          {.pid = pid, .gpu_instance = gpu_instance, .compute_instance = compute_instance, .memory_mib = pid * 10}));
    });
  }
  Simulated machine_{{"H100-80GB-SXM5"}};
};

TEST_F(ExportsProcesses, TheArrayMustHaveRoomForAll) {
  std::uint32_t count = 0;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device(), &count, nullptr), Code::kSuccess) << "there is none";
  EXPECT_EQ(count, 0U);
  for (std::uint32_t pid = 1; pid <= 3; ++pid) add(pid, kNoInstanceId, kNoInstanceId);

  std::vector<ProcessV2> processes(4);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device(), &count, nullptr), Code::kInsufficientSize);
  EXPECT_EQ(count, 3U);
  count = 2;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device(), &count, processes.data()), Code::kInsufficientSize);
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(processes[0].pid, 0U) << "nothing is written";
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device(), &count, nullptr), Code::kInvalidArgument);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device(), &count, processes.data()), Code::kSuccess);
  EXPECT_EQ(processes[2].pid, 3U);
  EXPECT_EQ(processes[2].memory_bytes, 30 * kMib);
  EXPECT_EQ(processes[2].gpu_instance_id, kNoInstanceId);
  EXPECT_EQ(processes[3].pid, 0U);
  count = 4;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v2(device(), &count, processes.data()), Code::kSuccess);
  EXPECT_EQ(count, 3U);
  std::vector<ProcessV1> old(3);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device(), &count, old.data()), Code::kSuccess);
  EXPECT_EQ(old[2].memory_bytes, 30 * kMib);

  std::vector<ProcessDetailV1> details(3);
  ProcessDetailListV1 list{.version = version_of<ProcessDetailListV1>(1), .mode = kProcessCompute};
  EXPECT_EQ(nvmlDeviceGetRunningProcessDetailList(device(), &list), Code::kInsufficientSize);
  EXPECT_EQ(list.count, 3U);
  list.processes = details.data();
  EXPECT_EQ(nvmlDeviceGetRunningProcessDetailList(device(), &list), Code::kSuccess);
  EXPECT_EQ(details[2].pid, 3U);
  list.version = version_of<ProcessDetailListV1>(2);
  EXPECT_EQ(nvmlDeviceGetRunningProcessDetailList(device(), &list), Code::kArgumentVersionMismatch);
}

TEST_F(ExportsProcesses, AMigDeviceHasItsOwnAndItsGpuHasAll) {
  GpuInstance instance = nullptr;
  ComputeInstance first = nullptr;
  ComputeInstance second = nullptr;
  ASSERT_EQ(nvmlDeviceCreateGpuInstance(device(), 14, &instance), Code::kSuccess);  // 2g.20gb
  ASSERT_EQ(nvmlGpuInstanceCreateComputeInstance(instance, 0, &first), Code::kSuccess);
  ASSERT_EQ(nvmlGpuInstanceCreateComputeInstance(instance, 0, &second), Code::kSuccess);
  ComputeInstanceDescriptionV2 description;
  ASSERT_EQ(nvmlComputeInstanceGetInfo_v2(second, &description), Code::kSuccess);
  GpuInstanceDescription parent;
  ASSERT_EQ(nvmlGpuInstanceGetInfo(instance, &parent), Code::kSuccess);
  add(5, parent.id, 1);
  ProcessV2 process;
  std::uint32_t count = 1;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(description.device, &count, &process), Code::kSuccess);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(process.gpu_instance_id, parent.id);
  EXPECT_EQ(process.compute_instance_id, 1U);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device(), &count, &process), Code::kSuccess);
  EXPECT_EQ(process.pid, 5U);
  ASSERT_EQ(nvmlComputeInstanceGetInfo_v2(first, &description), Code::kSuccess);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(description.device, &count, &process), Code::kSuccess);
  EXPECT_EQ(count, 0U);
}

}  // namespace
}  // namespace berth::nvml_abi
