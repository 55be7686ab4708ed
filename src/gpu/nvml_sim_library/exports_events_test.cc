// Events: which sets get them, from when on, and the duration of waits.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gpu/nvml_sim/faults.h"
#include "gpu/nvml_sim_library/exports.h"
#include "gpu/nvml_sim_library/testing/simulated.h"
#include "gpu/nvml_sim_state/testing/child.h"

namespace berth::nvml_abi {
namespace {

using edges::testing::Child;
using edges::testing::device;
using edges::testing::Mark;
using edges::testing::Simulated;
using nvml_sim::FaultRecord;
using nvml_sim::GpuRecord;
using nvml_sim::MachineRecord;

constexpr std::uint32_t kLongMs = 20'000;  // far more than anything here takes

class ExportsEvents : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
    ASSERT_EQ(nvmlEventSetCreate(&set_), Code::kSuccess);
  }
  void raise(std::uint32_t gpu, std::int32_t xid) {
    machine_.change_machine([&](MachineRecord& machine) { nvml_sim::raise_xid(machine, gpu, xid); });
  }
  /// XIDs that are raised repeatedly, at this rate, from now on.
  void add_xids(std::int32_t xid, std::int64_t times, std::int64_t interval_us, std::uint32_t of = 0) {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t now_us = std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count();
    machine_.change(of, [&](GpuRecord& gpu) {
      ASSERT_TRUE(nvml_sim::add_fault(
          gpu,
          {.kind = FaultRecord::kXid, .error = xid, .times = times, .interval_us = interval_us, .since_us = now_us}));
    });
  }
  Code wait(std::uint32_t timeout_ms = 0) { return nvmlEventSetWait_v2(set_, &event_, timeout_ms); }

  Simulated machine_{{"H100-80GB-SXM5", "H100-80GB-SXM5"}};
  EventSet set_ = nullptr;
  EventV2 event_;
};

TEST_F(ExportsEvents, ASetGetsWhatItRegisteredForFromThenOn) {
  raise(0, 48);
  ASSERT_EQ(nvmlDeviceRegisterEvents(device(0), kEventXid, set_), Code::kSuccess);
  EXPECT_EQ(wait(), Code::kTimeout) << "that was before";
  raise(1, 48);
  EXPECT_EQ(wait(), Code::kTimeout) << "that was another GPU";
  raise(0, 92);
  EXPECT_EQ(wait(), Code::kSuccess);
  EXPECT_EQ(event_.device, device(0));
  EXPECT_EQ(event_.type, kEventXid);
  EXPECT_EQ(event_.data, 92U);
  EXPECT_EQ(event_.gpu_instance_id, kNoInstanceId);
  EXPECT_EQ(event_.compute_instance_id, kNoInstanceId);
  EXPECT_EQ(wait(), Code::kTimeout) << "the ECC event with it is of another type";

  EventSet other = nullptr;
  ASSERT_EQ(nvmlEventSetCreate(&other), Code::kSuccess);
  ASSERT_EQ(nvmlDeviceRegisterEvents(device(0), kEventDoubleBitEcc, other), Code::kSuccess);
  ASSERT_EQ(nvmlDeviceRegisterEvents(device(1), kEventXid, other), Code::kSuccess);
  raise(0, 48);
  raise(1, 13);
  EXPECT_EQ(wait(), Code::kSuccess);
  EXPECT_EQ(event_.data, 48U);
  EventV1 old;
  EXPECT_EQ(nvmlEventSetWait(other, &old, 0), Code::kSuccess);
  EXPECT_EQ(old.type, kEventDoubleBitEcc);
  EXPECT_EQ(nvmlEventSetWait(other, &old, 0), Code::kSuccess);
  EXPECT_EQ(old.device, device(1));
  EXPECT_EQ(old.data, 13U);
}

TEST_F(ExportsEvents, AWaitEndsWithTheChangeOfAnotherProcess) {
  ASSERT_EQ(nvmlDeviceRegisterEvents(device(1), kEventMigConfig, set_), Code::kSuccess);
  const Mark is_waiting;
  Child child([&] {
    if (nvmlInit_v2() != Code::kSuccess || !is_waiting.wait()) return 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    GpuInstance instance = nullptr;
    return nvmlDeviceCreateGpuInstance(device(1), 19, &instance) == Code::kSuccess ? 0 : 2;
  });
  is_waiting.set();
  EXPECT_EQ(wait(kLongMs), Code::kSuccess);
  EXPECT_EQ(event_.type, kEventMigConfig);
  EXPECT_EQ(event_.device, device(1));
  EXPECT_EQ(child.finish(), 0);
}

TEST_F(ExportsEvents, XidsComeWithTheirRateWhileSomebodyWaits) {
  ASSERT_EQ(nvmlDeviceRegisterEvents(device(0), kEventXid, set_), Code::kSuccess);
  add_xids(63, 3, 10'000);
  for (int xid = 0; xid < 3; ++xid) {
    ASSERT_EQ(wait(kLongMs), Code::kSuccess) << xid;
    EXPECT_EQ(event_.data, 63U);
  }
  EXPECT_EQ(wait(), Code::kTimeout);
  EXPECT_EQ(machine_.gpu(0).counters.remapped_uncorrected, 3U);
}

TEST_F(ExportsEvents, AFloodOnTwoGpusIsCountedByTheReaderOfEach) {
  constexpr int kTimes = 3'000;
  std::array<int, 2> counts{};
  std::vector<std::thread> readers;
  for (std::uint32_t gpu = 0; gpu < 2; ++gpu) {
    EventSet set = nullptr;
    ASSERT_EQ(nvmlEventSetCreate(&set), Code::kSuccess);
    ASSERT_EQ(nvmlDeviceRegisterEvents(device(gpu), kEventXid, set), Code::kSuccess);
    readers.emplace_back([&counts, set, gpu] {
      EventV2 event;
      while (counts[gpu] < kTimes && nvmlEventSetWait_v2(set, &event, kLongMs) == Code::kSuccess) {
        if (event.device == device(gpu) && event.data == 63 + gpu) ++counts[gpu];
      }
    });
  }
  add_xids(63, kTimes, 20, 0);
  add_xids(64, kTimes, 20, 1);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(counts[0], kTimes);
  EXPECT_EQ(counts[1], kTimes);
}

TEST_F(ExportsEvents, AWaitEndsWhenTheNextXidIsDue) {
  ASSERT_EQ(nvmlDeviceRegisterEvents(device(0), kEventXid, set_), Code::kSuccess);
  constexpr std::int64_t kIntervalMicros = 20'000;
  add_xids(63, 40, kIntervalMicros);
  ASSERT_EQ(wait(kLongMs), Code::kSuccess);
  // Several raised at once would be available without a wait.
  int waits = 0;
  for (int xid = 1; xid < 40; ++xid) {
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(wait(kLongMs), Code::kSuccess) << xid;
    if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(2)) ++waits;
  }
  EXPECT_GT(waits, 10) << "in lumps of 250 ms there would be four";
}

TEST_F(ExportsEvents, XidsThatAreDueAreRaisedByAnyCallOnTheGpu) {
  add_xids(48, 2, 0);
  FieldValue field{.field_id = kFieldRecoveryAction};
  EXPECT_EQ(nvmlDeviceGetFieldValues(device(0), 1, &field), Code::kSuccess);
  EXPECT_EQ(field.value.unsigned_int, kRecoveryActionGpuReset);
  std::uint64_t count = 0;
  EXPECT_EQ(nvmlDeviceGetTotalEccErrors(device(0), kMemoryErrorUncorrected, kEccVolatile, &count), Code::kSuccess);
  EXPECT_EQ(count, 2U);
  const Device gpu = device(0);
  add_xids(79, 1, 0);
  machine_.add_fault(0, "nvmlDeviceGetMigMode", Code::kTimeout);
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  EXPECT_EQ(nvmlDeviceGetMigMode(gpu, &current, &pending), Code::kGpuIsLost) << "before any other fault";
}

TEST_F(ExportsEvents, WithoutEventsAWaitTakesItsTime) {
  ASSERT_EQ(nvmlDeviceRegisterEvents(device(0), kEventXid, set_), Code::kSuccess);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(wait(60), Code::kTimeout);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(60));
}

TEST_F(ExportsEvents, AWaitEndsWhenItsSetOrTheLibraryDoes) {
  std::atomic<bool> is_begun = false;
  const auto wait_in_thread = [&](Code& code) {
    is_begun = false;
    return std::thread([&] {
      is_begun = true;
      EventV2 event;
      code = nvmlEventSetWait_v2(set_, &event, kLongMs);
    });
  };
  Code code = Code::kSuccess;
  std::thread waiting = wait_in_thread(code);
  ASSERT_TRUE(edges::testing::wait_until([&] { return is_begun.load(); }));
  EXPECT_EQ(nvmlEventSetFree(set_), Code::kSuccess);
  waiting.join();
  EXPECT_EQ(code, Code::kInvalidArgument);
  EXPECT_EQ(nvmlEventSetFree(set_), Code::kInvalidArgument);

  ASSERT_EQ(nvmlEventSetCreate(&set_), Code::kSuccess);
  waiting = wait_in_thread(code);
  ASSERT_TRUE(edges::testing::wait_until([&] { return is_begun.load(); }));
  EXPECT_EQ(nvmlShutdown(), Code::kSuccess);
  waiting.join();
  EXPECT_TRUE(code == Code::kUninitialized || code == Code::kInvalidArgument) << "as the set ends with the library";
  ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
  EXPECT_EQ(wait(), Code::kInvalidArgument) << "sets end with the session";
}

TEST_F(ExportsEvents, WhatCanBeRegistered) {
  std::uint64_t types = 0;
  ASSERT_EQ(nvmlDeviceGetSupportedEventTypes(device(0), &types), Code::kSuccess);
  EXPECT_EQ(types, kEventSingleBitEcc | kEventDoubleBitEcc | kEventXid | kEventMigConfig);
  EXPECT_EQ(nvmlDeviceRegisterEvents(device(0), types, set_), Code::kSuccess);
  EXPECT_EQ(nvmlDeviceRegisterEvents(device(0), kEventClock, set_), Code::kNotSupported);
  EXPECT_EQ(nvmlDeviceRegisterEvents(device(0), kEventXid | 0x20, set_), Code::kNotSupported);
  EXPECT_EQ(nvmlDeviceRegisterEvents(device(0), kEventXid, nullptr), Code::kInvalidArgument);
  EXPECT_EQ(nvmlEventSetWait_v2(set_, nullptr, 0), Code::kInvalidArgument);
  EXPECT_EQ(nvmlEventSetWait_v2(nullptr, &event_, 0), Code::kInvalidArgument);
}

TEST_F(ExportsEvents, WhoIsSlowLosesTheOldest) {
  ASSERT_EQ(nvmlDeviceRegisterEvents(device(0), kEventXid, set_), Code::kSuccess);
  machine_.change_machine([](MachineRecord& machine) {
    for (std::uint64_t event = 0; event < nvml_sim::kEventsMax + 5; ++event) {
      nvml_sim::post(machine.events, {.type = kEventXid, .number = event, .gpu = 0});
    }
  });
  EXPECT_EQ(wait(), Code::kSuccess);
  EXPECT_EQ(event_.data, 5U);
}

}  // namespace
}  // namespace berth::nvml_abi
