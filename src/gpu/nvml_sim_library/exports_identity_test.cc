// The identity of devices, above all with buffers that are too small.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <string>

#include "gpu/nvml_sim_library/exports.h"
#include "gpu/nvml_sim_library/testing/simulated.h"

namespace berth::nvml_abi {
namespace {

using edges::testing::device;
using edges::testing::Simulated;

using Writing = std::function<Code(char*, std::uint32_t)>;

/// The text that a function writes. It needs space for its zero, and writes nothing if there is less.
std::string text_of(const Writing& write) {
  char large[256];
  std::memset(large, '#', sizeof(large));
  EXPECT_EQ(write(large, sizeof(large)), Code::kSuccess);
  const std::string text = large;
  EXPECT_EQ(large[text.size() + 1], '#') << "written behind the zero of " << text;

  char small[256];
  std::memset(small, '#', sizeof(small));
  const auto size = static_cast<std::uint32_t>(text.size());
  EXPECT_EQ(write(small, size + 1), Code::kSuccess) << text;
  EXPECT_EQ(small[size + 1], '#');
  std::memset(small, '#', sizeof(small));
  EXPECT_EQ(write(small, size), Code::kInsufficientSize) << text;
  EXPECT_EQ(write(small, 0), Code::kInsufficientSize) << text;
  EXPECT_EQ(std::string(small, sizeof(small)), std::string(sizeof(small), '#')) << text;
  return text;
}

class ExportsIdentity : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(nvmlInit_v2(), Code::kSuccess); }
  Simulated machine_{{"A100-80GB", "T4"}};
};

TEST_F(ExportsIdentity, TextsNeedRoomForTheirZero) {
  const Device gpu = device();
  EXPECT_EQ(text_of([&](char* out, std::uint32_t size) { return nvmlDeviceGetUUID(gpu, out, size); }).size(), 40U);
  EXPECT_EQ(text_of([&](char* out, std::uint32_t size) { return nvmlDeviceGetSerial(gpu, out, size); }).size(), 13U);
  EXPECT_EQ(text_of([&](char* out, std::uint32_t size) { return nvmlDeviceGetName(gpu, out, size); }),
            "NVIDIA A100-SXM4-80GB");
  text_of([&](char* out, std::uint32_t size) { return nvmlDeviceGetBoardPartNumber(gpu, out, size); });
  text_of([&](char* out, std::uint32_t size) { return nvmlDeviceGetVbiosVersion(gpu, out, size); });
  EXPECT_EQ(text_of(nvmlSystemGetDriverVersion), "580.95");
  EXPECT_EQ(text_of(nvmlSystemGetNVMLVersion), "13.580.95");
}

TEST_F(ExportsIdentity, MigDevicesAreNamedByTheirProfileAndShare) {
  GpuInstance instance = nullptr;
  ComputeInstance compute = nullptr;
  ASSERT_EQ(nvmlDeviceCreateGpuInstance(device(), 9, &instance), Code::kSuccess);  // 3g.40gb
  ASSERT_EQ(nvmlGpuInstanceCreateComputeInstance(instance, kComputeInstanceProfile1Slice, &compute), Code::kSuccess);
  Device mig_device = nullptr;
  ASSERT_EQ(nvmlDeviceGetMigDeviceHandleByIndex(device(), 0, &mig_device), Code::kSuccess);
  const Writing name = [&](char* out, std::uint32_t size) { return nvmlDeviceGetName(mig_device, out, size); };
  const Writing uuid = [&](char* out, std::uint32_t size) { return nvmlDeviceGetUUID(mig_device, out, size); };
  EXPECT_EQ(text_of(name), "NVIDIA A100-SXM4-80GB MIG 1c.3g.40gb");
  EXPECT_EQ(text_of(uuid).size(), 40U);
  ASSERT_EQ(nvmlComputeInstanceDestroy(compute), Code::kSuccess);
  ASSERT_EQ(nvmlGpuInstanceCreateComputeInstance(instance, kComputeInstanceProfile3Slice, &compute), Code::kSuccess);
  ASSERT_EQ(nvmlDeviceGetMigDeviceHandleByIndex(device(), 0, &mig_device), Code::kSuccess);
  EXPECT_EQ(text_of(name), "NVIDIA A100-SXM4-80GB MIG 3g.40gb");
}

TEST_F(ExportsIdentity, NamesOfProcessesAreCut) {
  char name[64] = {};
  const auto self = static_cast<std::uint32_t>(::getpid());
  ASSERT_EQ(nvmlSystemGetProcessName(self, name, sizeof(name)), Code::kSuccess);
  EXPECT_GT(std::strlen(name), 3U);
  char cut[4] = {'#', '#', '#', '#'};
  EXPECT_EQ(nvmlSystemGetProcessName(self, cut, 3), Code::kSuccess);
  EXPECT_EQ(std::string(cut, 4), std::string(name, 2) + std::string("\0#", 2));
  EXPECT_EQ(nvmlSystemGetProcessName(self, cut, 0), Code::kInvalidArgument);
  EXPECT_EQ(nvmlSystemGetProcessName(0x7FFFFFFF, name, sizeof(name)), Code::kNotFound);
}

TEST_F(ExportsIdentity, OldStructuresAreNotOverrun) {
  struct {
    PciPlaceV2 place;
    char behind = '#';
  } guarded;
  guarded.place.subsystem_id = 77;
  EXPECT_EQ(nvmlDeviceGetPciInfo(device(), &guarded.place), Code::kSuccess);
  EXPECT_EQ(guarded.place.subsystem_id, 77U) << "the oldest callers have no room for it";
  EXPECT_EQ(nvmlDeviceGetPciInfo_v2(device(), &guarded.place), Code::kSuccess);
  EXPECT_NE(guarded.place.subsystem_id, 77U);
  EXPECT_EQ(guarded.behind, '#');
}

TEST_F(ExportsIdentity, WhatGpusHaveInCommon) {
  std::uint32_t level = 0;
  EXPECT_EQ(nvmlDeviceGetTopologyCommonAncestor(device(0), device(1), &level), Code::kSuccess);
  EXPECT_EQ(nvmlDeviceGetTopologyCommonAncestor(device(0), device(0), &level), Code::kNotSupported);  // as measured
  EXPECT_EQ(nvmlDeviceGetTopologyCommonAncestor(device(0), nullptr, &level), Code::kInvalidArgument);
  std::int32_t is_same = 7;
  EXPECT_EQ(nvmlDeviceOnSameBoard(device(0), device(1), &is_same), Code::kSuccess);
  EXPECT_EQ(is_same, 0);
}

}  // namespace
}  // namespace berth::nvml_abi
