// Processes that call the library at random and are killed at random: the machine stays in a legal state.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "gpu/nvml_sim_library/exports.h"
#include "gpu/nvml_sim_library/testing/simulated.h"
#include "gpu/nvml_sim_state/testing/child.h"
#include "gpu/nvml_sim_state/testing/intact.h"

namespace berth::nvml_abi {
namespace {

using edges::testing::Child;
using edges::testing::device;
using edges::testing::Simulated;
using nvml_sim::GpuRecord;
using nvml_sim::Latency;

constexpr std::uint32_t kGpus = 2;

void create_any(Device gpu, Rng& rng) {
  constexpr std::uint32_t kProfiles[] = {0, 5, 9, 14, 19};  // of both models
  GpuInstance instance = nullptr;
  ComputeInstance compute = nullptr;
  if (nvmlDeviceCreateGpuInstance(gpu, kProfiles[rng.below(5)], &instance) != Code::kSuccess) return;
  static_cast<void>(nvmlGpuInstanceCreateComputeInstance(instance, static_cast<std::uint32_t>(rng.below(3)), &compute));
}

void destroy_any(Device gpu, Rng& rng) {
  GpuInstance instance = nullptr;
  ComputeInstance compute = nullptr;
  const auto id = static_cast<std::uint32_t>(rng.below(16));
  if (nvmlDeviceGetGpuInstanceById(gpu, id, &instance) != Code::kSuccess) return;
  for (std::uint32_t compute_id = 0; compute_id < 4; ++compute_id) {
    if (nvmlGpuInstanceGetComputeInstanceById(instance, compute_id, &compute) != Code::kSuccess) continue;
    static_cast<void>(nvmlComputeInstanceDestroy(compute));
  }
  static_cast<void>(nvmlGpuInstanceDestroy(instance));
}

/// The work of a process until it is killed.
int call_for_ever(std::uint64_t seed) {
  Rng rng(seed);
  for (;;) {
    if (nvmlInit_v2() != Code::kSuccess) return 1;
    for (int call = 0; call < 20; ++call) {
      const Device gpu = device(static_cast<std::uint32_t>(rng.below(kGpus)));
      Code activation = Code::kSuccess;
      if (rng.below(3) != 0) {
        create_any(gpu, rng);
      } else {
        destroy_any(gpu, rng);
      }
      if (rng.below(10) == 0) static_cast<void>(nvmlDeviceSetMigMode(gpu, kMigEnabled, &activation));
    }
    if (nvmlShutdown() != Code::kSuccess) return 2;
  }
}

TEST(LibraryKill, CallsOfKilledProcessesLeaveAMachineThatCouldBe) {
  constexpr int kProcesses = 2;
  constexpr std::uint64_t kRestMicrosMax = 4'000;
  const int kills = berth::testing::by_build(150, 30);
  const Simulated machine({"H100-80GB-SXM5", "A100-80GB"});
  machine.set_latency(Latency::kCreateComputeInstance, std::chrono::milliseconds(1));
  Rng rng(*berth::testing::case_seeds(1).begin());
  const auto start = [&] {
    const std::uint64_t seed = rng();
    return Child([seed] { return call_for_ever(seed); });
  };
  std::vector<Child> children;
  children.reserve(kProcesses);
  for (int process = 0; process < kProcesses; ++process) children.push_back(start());
  std::uint64_t calls_before = 0;
  for (int kill = 0; kill < kills; ++kill) {
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(kRestMicrosMax)));
    Child& victim = children[rng.below(kProcesses)];
    victim.kill();
    std::uint64_t calls = 0;
    for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) {
      const GpuRecord record = machine.gpu(gpu);
      ASSERT_EQ(edges::testing::fault_of(record), "") << "on GPU " << gpu << " after kill " << kill;
      calls += record.changing_calls;
    }
    ASSERT_GE(calls, calls_before);
    calls_before = calls;
    victim = start();
  }
  children.clear();
  EXPECT_GT(calls_before, static_cast<std::uint64_t>(kills)) << "hardly anything was called";

  // No lock is left behind.
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) {
    Code activation = Code::kSuccess;
    EXPECT_EQ(nvmlDeviceSetMigMode(device(gpu), kMigEnabled, &activation), Code::kSuccess);
  }
}

}  // namespace
}  // namespace berth::nvml_abi
