#include "gpu/nvml/detail/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "gpu/nvml/test_failures.h"

namespace berth::edges::detail {
namespace {

using nvml_abi::Code;
using nvml_abi::Device;
using nvml_abi::kNoInstanceId;
using nvml_abi::ProcessV1;
using nvml_abi::ProcessV2;
using ::testing::ElementsAre;

constexpr std::uint64_t kMib = 1U << 20U;

/// A driver's answers for the process lists of one device.
struct Answers {
  Code compute_code = Code::kSuccess;
  std::vector<ProcessV2> computing = {};
  Code graphics_code = Code::kSuccess;
  std::vector<ProcessV2> drawing = {};
};

/// The driver behind the functions below: C functions have no other place for it.
std::map<Device, Answers>& driver() {
  static std::map<Device, Answers> answers;
  return answers;
}

// Handles are never dereferenced.
int gpu_object, mig_object;
const Device gpu = reinterpret_cast<Device>(&gpu_object);
const Device mig = reinterpret_cast<Device>(&mig_object);

Code write_list(Code code, const std::vector<ProcessV2>& processes, std::uint32_t* count, ProcessV2* out) {
  if (code != Code::kSuccess) return code;
  const std::uint32_t room = *count;
  *count = static_cast<std::uint32_t>(processes.size());
  if (processes.size() > room) return Code::kInsufficientSize;
  std::ranges::copy(processes, out);
  return Code::kSuccess;
}

Functions functions_of_driver() {
  Functions functions;
  functions.nvmlDeviceGetComputeRunningProcesses_v3 = [](Device device, std::uint32_t* count, ProcessV2* out) {
    return write_list(driver()[device].compute_code, driver()[device].computing, count, out);
  };
  functions.nvmlDeviceGetGraphicsRunningProcesses_v2 = [](Device device, std::uint32_t* count, ProcessV2* out) {
    return write_list(driver()[device].graphics_code, driver()[device].drawing, count, out);
  };
  functions.nvmlSystemGetProcessName = [](std::uint32_t pid, char* name, std::uint32_t) {
    if (pid >= 100) return Code::kNotFound;
    std::ranges::copy("trainer", name);
    return Code::kSuccess;
  };
  return functions;
}

class Processes : public ::testing::Test {
 protected:
  void SetUp() override { driver().clear(); }
  static GpuAnswer<std::vector<GpuProcessSeen>> read(const std::vector<MigDeviceHandle>& mig_devices = {}) {
    return read_processes(functions_of_driver(), gpu, mig_devices);
  }
};

TEST_F(Processes, OfAllKindsAreListedOnceByPid) {
  driver()[gpu].computing = {{200, 5 * kMib}, {7, 3 * kMib}};
  driver()[gpu].drawing = {{7, 4 * kMib}, {9, nvml_abi::kValueNotAvailable}};
  const auto seen = read();
  ASSERT_TRUE(seen.has_value());
  EXPECT_THAT(*seen, ElementsAre(GpuProcessSeen{7, "trainer", 4, {}, {}}, GpuProcessSeen{9, "trainer", 0, {}, {}},
                                 GpuProcessSeen{200, "", 5, {}, {}}));
}

TEST_F(Processes, OfAMigDeviceAreOnItsInstances) {
  driver()[gpu].computing = {{7, kMib}, {8, kMib, 3, kNoInstanceId}, {9, kMib}};  // an old driver does not say where
  driver()[mig].computing = {{7, 2 * kMib}, {8, 2 * kMib, 3, 1}};
  const auto seen = read({{mig, 3, 1}});
  ASSERT_TRUE(seen.has_value());
  EXPECT_THAT(*seen, ElementsAre(GpuProcessSeen{7, "trainer", 2, 3, 1}, GpuProcessSeen{8, "trainer", 2, 3, 1},
                                 GpuProcessSeen{9, "trainer", 1, {}, {}}));
}

TEST_F(Processes, OnTwoInstancesAreListedTwice) {
  driver()[gpu].computing = {{7, kMib, 3, 0}, {7, kMib, 4, 0}, {7, kMib}};
  const auto seen = read();
  ASSERT_TRUE(seen.has_value());
  EXPECT_THAT(*seen, ElementsAre(GpuProcessSeen{7, "trainer", 1, 3, 0}, GpuProcessSeen{7, "trainer", 1, 4, 0}));
}

TEST_F(Processes, ThatMayNotBeSeenAreLeftOut) {
  driver()[gpu].compute_code = Code::kNoPermission;
  driver()[gpu].graphics_code = Code::kInvalidArgument;
  driver()[mig].computing = {{7, kMib}};
  driver()[mig].graphics_code = Code::kNotSupported;
  const auto seen = read({{mig, 3, 0}});
  ASSERT_TRUE(seen.has_value());
  EXPECT_THAT(*seen, ElementsAre(GpuProcessSeen{7, "trainer", 1, 3, 0}));
}

TEST_F(Processes, OfALostGpuOrAVanishedInstanceAreAFailure) {
  driver()[gpu].graphics_code = Code::kGpuIsLost;
  EXPECT_EQ(failure_of(read()).call, "nvmlDeviceGetGraphicsRunningProcesses_v3");
  EXPECT_TRUE(failure_of(read()).is_gpu_lost);
  driver()[gpu].graphics_code = Code::kSuccess;
  driver()[mig].compute_code = Code::kInvalidArgument;
  EXPECT_EQ(failure_of(read({{mig, 3, 0}})).code_name, "NVML_ERROR_INVALID_ARGUMENT");
}

TEST_F(Processes, ManyAreAskedForAgainWithMoreRoom) {
  for (std::uint32_t pid = 1; pid <= 1'000; ++pid) driver()[gpu].computing.push_back({pid, kMib});
  const auto seen = read();
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->size(), 1'000U);
  driver()[gpu].compute_code = Code::kInsufficientSize;  // for ever
  EXPECT_EQ(failure_of(read()).code_name, "NVML_ERROR_INSUFFICIENT_SIZE");
}

TEST_F(Processes, OfAnOldDriverHaveNoInstance) {
  Functions functions;
  functions.nvmlDeviceGetComputeRunningProcesses = [](Device, std::uint32_t* count, ProcessV1* out) {
    *count = 1;
    *out = {.pid = 7, .memory_bytes = kMib};
    return Code::kSuccess;
  };
  const auto seen = read_processes(functions, gpu, {});
  ASSERT_TRUE(seen.has_value());
  EXPECT_THAT(*seen, ElementsAre(GpuProcessSeen{7, "", 1, {}, {}}));
  EXPECT_TRUE(read_processes(Functions{}, gpu, {}).value().empty());
}

}  // namespace
}  // namespace berth::edges::detail
