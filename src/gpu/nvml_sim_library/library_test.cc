#include "gpu/nvml_sim_library/library.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "gpu/nvml_sim_library/exports.h"
#include "gpu/nvml_sim_library/testing/simulated.h"
#include "gpu/nvml_sim_state/testing/child.h"

namespace berth::nvml_abi {

extern "C" {
#define BERTH_NVML_STUB(name) Code name();
#define BERTH_NVML_CHANGE(name) Code name(Device device);
#define BERTH_NVML_CHANGE_OTHER(name) Code name();
#include "gpu/nvml_abi/functions.inc"
}

namespace {

using edges::testing::Child;
using edges::testing::device;
using edges::testing::Mark;
using edges::testing::run_in_child;
using edges::testing::Simulated;

/// Calls with nothing but zeros and null pointers.
template <class... Arguments>
Code call_empty(Code (*function)(Arguments...)) {
  return function(Arguments{}...);
}

/// The same, but with a device as the first argument if the function takes one.
template <class... Rest>
Code call_with(Device device, Code (*function)(Device, Rest...)) {
  return function(device, Rest{}...);
}
template <class... Arguments>
Code call_with(Device, Code (*function)(Arguments...)) {
  return call_empty(function);
}

bool starts_or_ends(std::string_view name) { return name.starts_with("nvmlInit") || name == "nvmlShutdown"; }

using Function = std::pair<std::string, std::function<Code(Device)>>;

std::vector<Function> simulated_functions() {
  return {
#define BERTH_NVML_FUNCTION(name, parameters) \
  {#name, [](Device device) { return device == nullptr ? call_empty(name) : call_with(device, name); }},
#include "gpu/nvml_abi/simulated.inc"
  };
}

std::vector<Function> questions_without_answer() {
  return {
#define BERTH_NVML_STUB(name) {#name, [](Device) { return name(); }},
#define BERTH_NVML_CHANGE(name)
#define BERTH_NVML_CHANGE_OTHER(name) BERTH_NVML_STUB(name)
#include "gpu/nvml_abi/functions.inc"
  };
}

std::vector<Function> changes_without_effect() {
  return {
#define BERTH_NVML_STUB(name)
#define BERTH_NVML_CHANGE(name) {#name, [](Device device) { return name(device); }},
#define BERTH_NVML_CHANGE_OTHER(name)
#include "gpu/nvml_abi/functions.inc"
  };
}

TEST(Library, InitsAreCounted) {
  const Simulated machine({"H100-80GB-SXM5"});
  std::uint32_t count = 0;
  EXPECT_EQ(nvmlShutdown(), Code::kUninitialized);
  EXPECT_EQ(nvmlInit_v2(), Code::kSuccess);
  EXPECT_EQ(nvmlInit(), Code::kSuccess);
  EXPECT_EQ(nvmlInitWithFlags(0xFFFFFFFF), Code::kSuccess);  // unknown flags are accepted, as measured
  for (int shutdown = 0; shutdown < 3; ++shutdown) {
    EXPECT_EQ(nvmlDeviceGetCount_v2(&count), Code::kSuccess);
    EXPECT_EQ(nvmlShutdown(), Code::kSuccess);
  }
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), Code::kUninitialized);
  EXPECT_EQ(nvmlShutdown(), Code::kUninitialized);
  EXPECT_EQ(nvmlInit_v2(), Code::kSuccess);
}

TEST(Library, AnInitThatFailsIsNotCounted) {
  const Simulated machine({"H100-80GB-SXM5"});
  const auto fails = [](Code code) {
    EXPECT_EQ(nvmlInit_v2(), code);
    EXPECT_EQ(nvmlShutdown(), Code::kUninitialized);
  };
  ::unsetenv("BERTH_NVML_SIM_STATE");
  fails(Code::kDriverNotLoaded);
  ::setenv("BERTH_NVML_SIM_STATE", (machine.path() + "-missing").c_str(), 1);
  fails(Code::kDriverNotLoaded);
  const std::string other = machine.path() + "-other";
  std::ofstream(other) << "something else";
  ::setenv("BERTH_NVML_SIM_STATE", other.c_str(), 1);
  fails(Code::kLibRmVersionMismatch);
  ::setenv("BERTH_NVML_SIM_STATE", machine.path().c_str(), 1);
  machine.add_fault(0, "nvmlInit", Code::kOperatingSystem);
  fails(Code::kOperatingSystem);
  EXPECT_EQ(nvmlInit_v2(), Code::kSuccess);
}

TEST(Library, BeforeTheFirstInitEveryFunctionSaysSo) {
  const Simulated machine({"H100-80GB-SXM5"});
  for (const auto& [name, call] : simulated_functions()) {
    if (starts_or_ends(name)) continue;
    EXPECT_EQ(call(nullptr), Code::kUninitialized) << name;
  }
  for (const auto& [name, call] : questions_without_answer()) EXPECT_EQ(call(nullptr), Code::kUninitialized) << name;
  for (const auto& [name, call] : changes_without_effect()) EXPECT_EQ(call(nullptr), Code::kUninitialized) << name;
  EXPECT_STREQ(nvmlErrorString(Code::kUninitialized), message_of(Code::kUninitialized));
}

TEST(Library, EveryFunctionRefusesNullPointers) {
  const Simulated machine({"H100-80GB-SXM5"});
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  const Device gpu = device();
  for (const auto& [name, call] : simulated_functions()) {
    if (starts_or_ends(name)) continue;
    EXPECT_EQ(call(nullptr), Code::kInvalidArgument) << name;
    EXPECT_EQ(call(gpu), Code::kInvalidArgument) << name << " of a GPU";
  }
  EXPECT_EQ(machine.gpu(0).changing_calls, 0U) << "calls with wrong arguments reach no device";
}

TEST(Library, WhatIsNotSimulatedIsNotSupportedAndChangesAreCounted) {
  const Simulated machine({"H100-80GB-SXM5"});
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  const Device gpu = device();
  for (const auto& [name, call] : questions_without_answer()) EXPECT_EQ(call(gpu), Code::kNotSupported) << name;
  EXPECT_EQ(machine.gpu(0).changing_calls, 0U);
  std::uint64_t count = 0;
  for (const auto& [name, call] : changes_without_effect()) {
    EXPECT_EQ(call(nullptr), Code::kInvalidArgument) << name;
    EXPECT_EQ(machine.gpu(0).changing_calls, count) << name;
    EXPECT_EQ(call(gpu), Code::kNotSupported) << name;
    EXPECT_EQ(machine.gpu(0).changing_calls, ++count) << name;
  }
  EXPECT_GT(count, 30U);
}

TEST(Library, HandlesEndWithTheLastShutdownUntilTheyAreLookedUpAgain) {
  const Simulated machine({"H100-80GB-SXM5", "H100-80GB-SXM5"});
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  std::uint32_t index = 99;
  const Device first = device(0);
  const Device second = device(1);
  EXPECT_NE(first, second);
  EXPECT_EQ(device(0), first) << "the same thing has the same handle";
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  ASSERT_EQ(nvmlShutdown(), Code::kSuccess);
  EXPECT_EQ(nvmlDeviceGetIndex(second, &index), Code::kSuccess) << "that was not the last one";
  EXPECT_EQ(index, 1U);

  ASSERT_EQ(nvmlShutdown(), Code::kSuccess);
  EXPECT_EQ(nvmlDeviceGetIndex(first, &index), Code::kUninitialized);
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  EXPECT_EQ(nvmlDeviceGetIndex(first, &index), Code::kInvalidArgument);
  EXPECT_EQ(device(0), first);
  EXPECT_EQ(nvmlDeviceGetIndex(first, &index), Code::kSuccess);
  EXPECT_EQ(nvmlDeviceGetIndex(second, &index), Code::kInvalidArgument) << "each is looked up for itself";
}

TEST(Library, AHandleThatWasNeverGivenIsInvalid) {
  const Simulated machine({"H100-80GB-SXM5"});
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  const Device gpu = device();
  char* const address = reinterpret_cast<char*>(gpu);
  std::uint32_t index = 0;
  for (const std::ptrdiff_t distance : {1, 255, 256, 1 << 20, 1 << 30, -1, -(1 << 20)}) {
    Device other = reinterpret_cast<Device>(address + distance);
    EXPECT_EQ(nvmlDeviceGetIndex(other, &index), Code::kInvalidArgument) << distance;
  }
  EXPECT_EQ(nvmlDeviceGetIndex(reinterpret_cast<Device>(&index), &index), Code::kInvalidArgument)
      << "the caller's memory";
}

TEST(Library, ARebootInvalidatesEveryHandle) {
  const Simulated machine({"H100-80GB-SXM5"});
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  const Device before = device();
  std::uint32_t index = 0;
  machine.change_machine([](nvml_sim::MachineRecord& record) { ++record.boots; });
  EXPECT_EQ(nvmlDeviceGetIndex(before, &index), Code::kInvalidArgument);
  static_cast<void>(device());
  EXPECT_EQ(nvmlDeviceGetIndex(before, &index), Code::kSuccess);
}

TEST(Library, TheChildOfAForkIsNotInitialised) {
  const Simulated machine({"H100-80GB-SXM5"});
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  const Device gpu = device();
  EXPECT_EQ(run_in_child([&] {
              std::uint32_t index = 0;
              if (nvmlDeviceGetIndex(gpu, &index) != Code::kUninitialized) return 1;
              if (nvmlShutdown() != Code::kUninitialized) return 2;
              if (nvmlInit_v2() != Code::kSuccess) return 3;
              if (nvmlDeviceGetIndex(gpu, &index) != Code::kInvalidArgument) return 4;
              if (device() != gpu || nvmlDeviceGetIndex(gpu, &index) != Code::kSuccess) return 5;
              // And its own child starts uninitialised, too.
              return run_in_child([&] { return nvmlShutdown() == Code::kUninitialized ? 0 : 6; });
            }),
            0);
  std::uint32_t index = 0;
  EXPECT_EQ(nvmlDeviceGetIndex(gpu, &index), Code::kSuccess);
  EXPECT_EQ(nvmlShutdown(), Code::kSuccess);
  EXPECT_EQ(nvmlShutdown(), Code::kSuccess);
}

TEST(Library, AForkInTheMidstOfACallLeavesBothProcessesWorking) {
  const Simulated machine({"H100-80GB-SXM5", "H100-80GB-SXM5"});
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  const Device gpu = device();
  machine.hang(0, "nvmlDeviceSetMigMode");
  std::thread caller([&] {
    Code activation = Code::kSuccess;
    EXPECT_EQ(nvmlDeviceSetMigMode(gpu, kMigEnabled, &activation), Code::kSuccess);
  });
  ASSERT_TRUE(edges::testing::wait_until([&] { return machine.gpu(0).changing_calls == 1; }));
  EXPECT_EQ(run_in_child([] {
              if (nvmlInit_v2() != Code::kSuccess) return 1;
              std::uint32_t current = 0;
              std::uint32_t pending = 0;
              if (nvmlDeviceGetMigMode(device(0), &current, &pending) != Code::kSuccess) return 2;
              Code activation = Code::kSuccess;
              if (nvmlDeviceSetMigMode(device(1), kMigEnabled, &activation) != Code::kSuccess) return 3;
              return nvmlShutdown() == Code::kSuccess ? 0 : 4;
            }),
            0);
  machine.clear_faults(0);
  caller.join();
}

TEST(Library, AChildOfAForkKeepsNoLockOfAParentThatIsKilled) {
  const Simulated machine({"H100-80GB-SXM5"});
  machine.hang(0, "nvmlDeviceSetMigMode");
  const Mark is_forked;
  const Mark is_over;
  Child parent([&] {
    if (nvmlInit_v2() != Code::kSuccess) return 1;
    const Device gpu = device();
    std::thread caller([&] {
      Code activation = Code::kSuccess;
      static_cast<void>(nvmlDeviceSetMigMode(gpu, kMigEnabled, &activation));
    });
    if (!edges::testing::wait_until([&] { return machine.gpu(0).changing_calls == 1; })) return 2;
    if (::fork() == 0) ::_exit(is_over.wait() ? 0 : 1);  // it outlives its parent
    is_forked.set();
    ::pause();
    return 0;
  });
  ASSERT_TRUE(is_forked.wait());
  parent.kill();
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  Code activation = Code::kSuccess;
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(nvmlDeviceSetMigMode(device(), kMigEnabled, &activation), Code::kSuccess);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20)) << "it waited for the grandchild";
  is_over.set();
}

/// Everything at once: each call returns only codes that are allowed then.
void use_at_random(std::uint64_t seed, int calls) {
  Rng rng(seed);
  const auto is_one_of = [](Code code, std::initializer_list<Code> codes) {
    return std::ranges::find(codes, code) != codes.end();
  };
  for (int call = 0; call < calls; ++call) {
    ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
    Device gpu = nullptr;
    // Handles end when the other threads shut the library down, but not while this one has it initialised.
    ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(static_cast<std::uint32_t>(rng.below(2)), &gpu), Code::kSuccess);
    GpuInstance instance = nullptr;
    Code code = nvmlDeviceCreateGpuInstance(gpu, 19, &instance);
    ASSERT_TRUE(is_one_of(code, {Code::kSuccess, Code::kInsufficientResources})) << static_cast<int>(code);
    char uuid[kUuidV2Bytes] = {};
    ASSERT_EQ(nvmlDeviceGetUUID(gpu, uuid, sizeof(uuid)), Code::kSuccess);
    EventSet set = nullptr;
    ASSERT_EQ(nvmlEventSetCreate(&set), Code::kSuccess);
    ASSERT_EQ(nvmlDeviceRegisterEvents(gpu, kEventXid, set), Code::kSuccess);
    EventV2 event;
    ASSERT_EQ(nvmlEventSetWait_v2(set, &event, 0), Code::kTimeout);
    ASSERT_EQ(nvmlEventSetFree(set), Code::kSuccess);
    if (code == Code::kSuccess) {
      ComputeInstance compute = nullptr;
      ASSERT_EQ(nvmlGpuInstanceCreateComputeInstance(instance, 0, &compute), Code::kSuccess);
      ComputeInstanceDescriptionV2 description;
      ASSERT_EQ(nvmlComputeInstanceGetInfo_v2(compute, &description), Code::kSuccess);
      ASSERT_EQ(nvmlComputeInstanceDestroy(compute), Code::kSuccess);
      ASSERT_EQ(nvmlGpuInstanceDestroy(instance), Code::kSuccess);
    }
    ASSERT_EQ(nvmlShutdown(), Code::kSuccess);
  }
}

TEST(Library, ThreadsMayUseItAtOnce) {
  const Simulated machine({"H100-80GB-SXM5", "H100-80GB-SXM5"});
  constexpr std::uint64_t kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([thread] { use_at_random(thread, berth::testing::by_build(200, 50)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(nvmlShutdown(), Code::kUninitialized);
  EXPECT_FALSE(nvml_sim::has_instances(machine.gpu(0)));
  EXPECT_FALSE(nvml_sim::has_instances(machine.gpu(1)));
}

}  // namespace
}  // namespace berth::nvml_abi
