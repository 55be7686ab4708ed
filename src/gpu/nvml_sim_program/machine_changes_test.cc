#include "gpu/nvml_sim_program/machine_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "gpu/nvml_abi/constants.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/faults.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/telemetry.h"
#include "gpu/nvml_sim/testing/gpus.h"

namespace berth::nvml_sim_cli {
namespace {

using nvml_sim::FaultRecord;
using nvml_sim::GpuRecord;
using nvml_sim::MachineRecord;
using nvml_sim::testing::kRoot;
using testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000;

/// GPU 0 in MIG mode with one 3g.40gb, GPU 1 a T4.
class MachineChanges : public testing::Test {
 protected:
  MachineChanges() {
    machine().gpu_count = 2;
    gpu(0) = nvml_sim::testing::gpu_of("A100-80GB", 0);
    gpu(1) = nvml_sim::testing::gpu_of("T4-16GB", 1);
    const auto instance =
        nvml_sim::create_gpu_instance(gpu(0), nvml_sim::testing::profile_id(gpu(0), "3g.40gb"), {}, kRoot).value();
    for (const std::uint32_t profile : {1U, 0U}) {
      EXPECT_TRUE(nvml_sim::create_compute_instance(gpu(0), instance, profile, {}, kRoot).has_value());
    }
    for (const nvml_sim::MigDevice& device : nvml_sim::mig_devices(gpu(0))) {
      mig_uuids.push_back(nvml_sim::mig_uuid(gpu(0), device));
    }
  }
  MachineRecord& machine() { return *machine_; }
  GpuRecord& gpu(int index) { return machine_->gpus[index]; }
  std::vector<std::string> mig_uuids;

 private:
  std::unique_ptr<MachineRecord> machine_ = std::make_unique<MachineRecord>();
};

std::string message_of(const Result<void>& result) { return result ? "" : result.error().message; }

TEST_F(MachineChanges, AFaultIsAddedAndTakenBack) {
  const FaultWords words{
      .call = "read", .error = nvml_abi::Code::kUnknown, .is_done = true, .after = 1, .times = 2, .ms = 3};
  ASSERT_EQ(message_of(add_fault(machine(), 1, words)), "");
  EXPECT_EQ(gpu(1).faults[0].kind, FaultRecord::kAnswer);
  EXPECT_STREQ(gpu(1).faults[0].call, "read");
  EXPECT_FALSE(nvml_sim::has_faults(gpu(0)));
  ASSERT_EQ(message_of(clear_faults(machine(), 1)), "");
  EXPECT_FALSE(nvml_sim::has_faults(gpu(1)));
}

TEST_F(MachineChanges, AGpuBeyondTheLastIsRefusedEverywhere) {
  const std::string wanted = "--gpu: wanted a GPU from 0 to 1, found 2";
  EXPECT_EQ(message_of(add_fault(machine(), 2, {.call = "read", .error = {}, .ms = 1})), wanted);
  EXPECT_EQ(message_of(clear_faults(machine(), 2)), wanted);
  EXPECT_EQ(message_of(lose_gpu(machine(), 2)), wanted);
  EXPECT_EQ(message_of(raise_xid(machine(), 2, {.xid = 48, .rate = {}}, 0)), wanted);
  EXPECT_EQ(message_of(reset_gpu(machine(), 2, 0)), wanted);
}

TEST_F(MachineChanges, XidsAtOnceAreEventsOfNow) {
  ASSERT_EQ(message_of(raise_xid(machine(), 0, {.xid = 31, .times = 3, .rate = {}}, 0)), "");
  int count = 0;
  for (std::uint64_t i = 0; i < machine().events.posted; ++i) {
    const nvml_sim::EventRecord& event = machine().events.events[i];
    if (event.type == nvml_abi::kEventXid && event.number == 31 && event.gpu == 0) ++count;
  }
  EXPECT_EQ(count, 3);
  EXPECT_EQ(gpu(0).is_lost, 0U);
  ASSERT_EQ(message_of(raise_xid(machine(), 0, {.xid = 79, .rate = {}}, 0)), "");
  EXPECT_EQ(gpu(0).is_lost, 1U);
  EXPECT_THAT(message_of(raise_xid(machine(), 0, {.xid = 31, .times = 1'001, .rate = {}}, 0)),
              HasSubstr("--times: wanted at most 1000 at once (--rate spreads them), found 1001"));
}

TEST_F(MachineChanges, XidsWithARateComeInTheirTime) {
  ASSERT_EQ(message_of(raise_xid(machine(), 0, {.xid = 31, .times = 2, .rate = 4.0}, 10 * kSecond)), "");
  EXPECT_EQ(machine().events.posted, 0U);
  EXPECT_FALSE(nvml_sim::due_xid(gpu(0), 10 * kSecond - 1).has_value());
  EXPECT_EQ(nvml_sim::due_xid(gpu(0), 10 * kSecond), 31);
  EXPECT_FALSE(nvml_sim::due_xid(gpu(0), 10 * kSecond + kSecond / 4 - 1).has_value());
  EXPECT_EQ(nvml_sim::due_xid(gpu(0), 10 * kSecond + kSecond / 4), 31);
  EXPECT_FALSE(nvml_sim::has_faults(gpu(0)));
}

TEST_F(MachineChanges, AProcessIsOnOneDevice) {
  ASSERT_EQ(message_of(add_process(machine(), {.uuid = mig_uuids[1], .pid = 42, .memory_mib = 100}, 0)), "");
  ASSERT_EQ(message_of(add_process(machine(), {.uuid = mig_uuids[0], .pid = 42, .memory_mib = 7}, 0)), "");
  const auto devices = nvml_sim::mig_devices(gpu(0));
  ASSERT_EQ(nvml_sim::processes_of(gpu(0), devices[1]).size(), 1U);
  EXPECT_EQ(nvml_sim::processes_of(gpu(0), devices[1]).front().memory_mib, 100U);
  ASSERT_EQ(message_of(remove_process(machine(), {.uuid = mig_uuids[0], .pid = 42}, 0)), "");
  EXPECT_FALSE(nvml_sim::has_process(gpu(0), devices[0]));
  EXPECT_TRUE(nvml_sim::has_process(gpu(0), devices[1]));
  EXPECT_EQ(message_of(remove_process(machine(), {.uuid = mig_uuids[0], .pid = 42}, 0)),
            "--pid: wanted a process on " + mig_uuids[0] + " (none), found 42");
  EXPECT_EQ(message_of(remove_process(machine(), {.uuid = mig_uuids[1], .pid = 43}, 0)),
            "--pid: wanted a process on " + mig_uuids[1] + " (42), found 43");
}

TEST_F(MachineChanges, AProcessIsRemovedFromAGpuWithItsDevicesOrEverywhere) {
  const auto add = [&](const std::string& uuid) {
    ASSERT_EQ(message_of(add_process(machine(), {.uuid = uuid, .pid = 42}, 0)), "");
  };
  add(mig_uuids[0]);
  add(mig_uuids[1]);
  add(gpu(1).uuid);
  ASSERT_EQ(message_of(remove_process(machine(), {.uuid = gpu(0).uuid, .pid = 42}, 0)), "");
  EXPECT_FALSE(nvml_sim::has_process(gpu(0)));
  EXPECT_TRUE(nvml_sim::has_process(gpu(1)));
  add(mig_uuids[0]);
  EXPECT_EQ(message_of(remove_process(machine(), {.uuid = "", .pid = 43}, 0)),
            "--pid: wanted a process on this machine (42, 42), found 43");
  ASSERT_EQ(message_of(remove_process(machine(), {.uuid = "", .pid = 42}, 0)), "");
  EXPECT_FALSE(nvml_sim::has_process(gpu(0)) || nvml_sim::has_process(gpu(1)));
}

TEST_F(MachineChanges, AWholeGpuTakesAProcessWithoutMigMode) {
  ASSERT_EQ(message_of(add_process(machine(), {.uuid = gpu(1).uuid, .pid = 42}, 0)), "");
  EXPECT_TRUE(nvml_sim::has_process(gpu(1)));
  EXPECT_EQ(
      message_of(add_process(machine(), {.uuid = gpu(0).uuid, .pid = 42}, 0)),
      "--uuid: wanted the UUID of a MIG device, as GPU 0 is in MIG mode, found \"" + std::string(gpu(0).uuid) + "\"");
  EXPECT_THAT(message_of(add_process(machine(), {.uuid = mig_uuids[0] + "x", .pid = 42}, 0)),
              HasSubstr("; did you mean " + mig_uuids[0] + "?"));
  for (std::uint32_t pid = 1; pid < nvml_sim::kProcessesMax; ++pid) {
    ASSERT_EQ(message_of(add_process(machine(), {.uuid = gpu(1).uuid, .pid = pid + 100}, 0)), "");
  }
  EXPECT_EQ(message_of(add_process(machine(), {.uuid = gpu(1).uuid, .pid = 99}, 0)),
            "wanted at most 64 processes on one GPU, found more on GPU 1");
}

/// The energy so far is recorded before the power changes.
TEST_F(MachineChanges, EnergyGrowsByThePowerThatWas) {
  const std::uint64_t idle_mj = nvml_sim::energy_mj(gpu(1), 100 * kSecond);
  ASSERT_GT(idle_mj, 0U);
  ASSERT_EQ(message_of(add_process(machine(), {.uuid = gpu(1).uuid, .pid = 42}, 100 * kSecond)), "");
  EXPECT_EQ(nvml_sim::energy_mj(gpu(1), 100 * kSecond), idle_mj);
  const std::uint64_t busy_mj = nvml_sim::energy_mj(gpu(1), 200 * kSecond);
  EXPECT_GT(busy_mj - idle_mj, idle_mj);
  ASSERT_EQ(message_of(reset_gpu(machine(), 1, 200 * kSecond)), "");
  EXPECT_FALSE(nvml_sim::has_process(gpu(1)));
  EXPECT_EQ(nvml_sim::energy_mj(gpu(1), 300 * kSecond), busy_mj + idle_mj);
}

TEST_F(MachineChanges, AResetBringsALostGpuBackWithoutInstances) {
  ASSERT_EQ(message_of(lose_gpu(machine(), 0)), "");
  ASSERT_EQ(message_of(reset_gpu(machine(), 0, 0)), "");
  EXPECT_EQ(gpu(0).is_lost, 0U);
  EXPECT_FALSE(nvml_sim::has_instances(gpu(0)));
  EXPECT_EQ(machine().events.posted, 0U);
}

TEST_F(MachineChanges, LoadIsSetAndFollowsTheProcessesAgain) {
  const LoadWords words{.uuid = gpu(1).uuid, .graphics_percent = 70, .temperature_c = 81, .power_watts = 60};
  ASSERT_EQ(message_of(set_load(machine(), words, kSecond)), "");
  nvml_sim::Telemetry telemetry = nvml_sim::telemetry_of(gpu(1));
  EXPECT_EQ(telemetry.utilization_percent, 70U);
  EXPECT_EQ(telemetry.temperature_c, 81U);
  EXPECT_EQ(telemetry.power_mw, 60'000U);
  EXPECT_GT(gpu(1).counters.energy_mj, 0U) << "until now at the power before";
  ASSERT_EQ(message_of(clear_load(machine(), gpu(1).uuid, 2 * kSecond)), "");
  telemetry = nvml_sim::telemetry_of(gpu(1));
  EXPECT_EQ(telemetry.utilization_percent, 0U);
  EXPECT_LT(telemetry.power_mw, 60'000U);
}

TEST_F(MachineChanges, LoadOfAMigDeviceIsThatOfItsInstance) {
  ASSERT_EQ(message_of(set_load(machine(), {.uuid = mig_uuids[1], .dram_percent = 33}, 0)), "");
  const int instance = nvml_sim::mig_devices(gpu(0)).at(1).gpu_instance;
  EXPECT_EQ(nvml_sim::activity_of(gpu(0), instance).dram_percent, 33U);
  ASSERT_EQ(message_of(clear_load(machine(), mig_uuids[0], 0)), "");
  EXPECT_EQ(nvml_sim::activity_of(gpu(0), instance).dram_percent, 0U);
  EXPECT_THAT(message_of(set_load(machine(), {.uuid = mig_uuids[0], .power_watts = 10}, 0)),
              HasSubstr("--uuid: wanted the UUID of a GPU with --temperature and --power"));
  EXPECT_THAT(message_of(set_load(machine(), {.uuid = "GPU-0"}, 0)), HasSubstr("--uuid: wanted the UUID of a GPU or"));
}

}  // namespace
}  // namespace berth::nvml_sim_cli
