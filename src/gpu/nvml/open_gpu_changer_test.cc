#include "gpu/nvml/open_gpu_changer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "gpu/device/verbs.h"
#include "gpu/nvml/test_simulated.h"
#include "gpu/nvml_abi/codes.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/faults.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/reset.h"
#include "gpu/nvml_sim/testing/gpus.h"
#include "gpu/nvml_sim_state/permission.h"

namespace berth::edges {
namespace {

using nvml_abi::Code;
using nvml_sim::GpuRecord;
using nvml_sim::MachineRecord;
using nvml_sim::testing::kRoot;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SimulatedMachine;
using ::testing::SizeIs;
using Reason = NoGpuLibrary::Reason;

class GpuChangerOfNvml : public OnSimulatedLibrary {
 protected:
  void SetUp() override {
    OnSimulatedLibrary::SetUp();
    if (!may_change_devices()) GTEST_SKIP() << "this process may change no device: it is not root";
  }

  static ChangeableGpus open_both() {
    auto gpus = open_gpu_changer(testing::find_simulated_library(testing::kSimulatedLibrary));
    if (!gpus) ADD_FAILURE() << gpus.error().message;
    return gpus ? std::move(*gpus) : ChangeableGpus{};
  }

  static std::int64_t now_us() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  }

  /// An order about the first GPU.
  static DeviceEnd carry_out(ChangeableGpus& gpus, SimulatedMachine& machine, DeviceVerb verb, std::string_view profile,
                             int start, std::uint32_t gpu = 0) {
    DeviceOrder order{.intent = 1, .verb = verb, .uuid = machine.uuid(gpu)};
    machine.change(gpu, [&](GpuRecord& record) {
      if (profile.empty()) return;
      order.profile_id = nvml_sim::testing::profile_id(record, profile);
      order.start = start;
      order.length = nvml_sim::possible_placements(record, order.profile_id)->front().length;
    });
    device::Tools tools{*gpus.library, *gpus.changer, now_us};
    return device::carry_out(tools, order);
  }

  static std::uint64_t changing_calls(SimulatedMachine& machine, std::uint32_t gpu) {
    std::uint64_t calls = 0;
    machine.change(gpu, [&](GpuRecord& record) { calls = record.changing_calls; });
    return calls;
  }

  static void add_fault(SimulatedMachine& machine, std::string_view call, nvml_sim::FaultRecord fault) {
    fault.kind = nvml_sim::FaultRecord::kAnswer;
    nvml_sim::put_text(fault.call, call);
    machine.change(0, [&](GpuRecord& record) { ASSERT_TRUE(nvml_sim::add_fault(record, fault)); });
  }
};

TEST_F(GpuChangerOfNvml, WithoutItsFunctionsThereIsNone) {
  SimulatedMachine machine({"A100-80GB"});
  const auto path = testing::find_simulated_library(testing::kObservingLibrary);
  ASSERT_TRUE(path.has_value());
  auto gpus = open_gpu_changer(path);
  ASSERT_FALSE(gpus.has_value());
  EXPECT_EQ(gpus.error().reason, Reason::kFunctionMissing);
  EXPECT_THAT(gpus.error().functions_missing, ElementsAre("nvmlDeviceSetMigMode", "nvmlGpuInstanceDestroy"));
  EXPECT_THAT(gpus.error().message, EndsWith("found a library without nvmlDeviceSetMigMode, nvmlGpuInstanceDestroy"));
  EXPECT_TRUE(open_gpu_library(path).has_value());  // a reader needs none of them

  gpus = open_gpu_changer("/nowhere/libnvidia-ml.so.1");
  ASSERT_FALSE(gpus.has_value());
  EXPECT_EQ(gpus.error().reason, Reason::kNotFound);
}

/// A GPU model, one of its profiles, and where it is created.
struct LifeCycle {
  std::string_view model;
  std::string_view profile;
  int start = 0;
};

TEST_F(GpuChangerOfNvml, InstancesAreCreatedAndDestroyedOnTheirGpuAlone) {
  const LifeCycle cycles[] = {{"A100-80GB", "3g.40gb", 4}, {"A100-80GB", "1g.10gb+me", 2}, {"H100-80GB", "3g.40gb", 4},
                              {"H200", "7g.141gb", 0},     {"A30", "2g.12gb", 2},          {"RTX", "2g.48gb", 6}};
  for (const auto& [model, profile, start] : cycles) {
    SCOPED_TRACE(std::string(model) + " " + std::string(profile));
    SimulatedMachine machine({model, model});
    ChangeableGpus gpus = open_both();
    ASSERT_NE(gpus.changer, nullptr);
    DeviceEnd end = carry_out(gpus, machine, DeviceVerb::kCreate, profile, start);
    ASSERT_EQ(end.outcome, DeviceOutcome::kDone) << end.message;
    ASSERT_THAT(end.reading->instances, SizeIs(1));
    const GpuInstanceSeen& instance = end.reading->instances.front();
    EXPECT_EQ(instance.start, start);
    ASSERT_THAT(instance.compute_instances, SizeIs(1));
    EXPECT_TRUE(instance.compute_instances.front().is_whole);
    EXPECT_THAT(end.mig_uuid, ::testing::StartsWith("MIG-"));
    machine.change(0, [&](GpuRecord& gpu) { EXPECT_EQ(end.memory_mib, gpu.gpu_instances[instance.id].memory_mib); });
    EXPECT_EQ(changing_calls(machine, 0), 2U);

    end = carry_out(gpus, machine, DeviceVerb::kDestroy, profile, start);
    EXPECT_EQ(end.outcome, DeviceOutcome::kDone) << end.message;
    EXPECT_THAT(end.reading->instances, IsEmpty());
    EXPECT_EQ(changing_calls(machine, 0), 4U);
    EXPECT_EQ(changing_calls(machine, 1), 0U);
  }
}

TEST_F(GpuChangerOfNvml, AComputeInstanceThatIsSmallerIsNotWhole) {
  for (const std::string_view model : {"A100-80GB", "H100-80GB"}) {
    SimulatedMachine machine({model});
    ChangeableGpus gpus = open_both();
    machine.change(0, [](GpuRecord& gpu) {
      ASSERT_EQ(nvml_sim::testing::create_anywhere(gpu, "4g.40gb"), 0);
      for (const int slices : {1, 3}) {
        const auto profile = nvml_sim::compute_profile_of_slices(slices);
        static_cast<void>(nvml_sim::create_compute_instance(gpu, 1, profile, std::nullopt, kRoot));
      }
    });
    const auto reading = gpus.library->read(machine.uuid(0));
    ASSERT_TRUE(reading.has_value());
    for (const auto& compute : reading->instances.front().compute_instances) EXPECT_FALSE(compute.is_whole);
    const DeviceEnd end = carry_out(gpus, machine, DeviceVerb::kDestroy, "4g.40gb", 0);
    EXPECT_EQ(end.outcome, DeviceOutcome::kRefused) << end.message;
    EXPECT_EQ(changing_calls(machine, 0), 0U);
  }
}

TEST_F(GpuChangerOfNvml, TheModeIsTurnedOnAsTheModelDoes) {
  SimulatedMachine machine({"A100-80GB", "H100-80GB", "T4"});
  for (std::uint32_t gpu = 0; gpu < 2; ++gpu) {
    machine.change(gpu, [](GpuRecord& record) { record.is_mig_on = record.is_mig_pending_on = 0; });
  }
  ChangeableGpus gpus = open_both();
  DeviceEnd end = carry_out(gpus, machine, DeviceVerb::kMigModeOn, "", 0, 0);
  EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
  EXPECT_THAT(end.message, HasSubstr("needs a reset"));
  machine.change(0, [](GpuRecord& record) { nvml_sim::reset_gpu(record); });
  EXPECT_EQ(carry_out(gpus, machine, DeviceVerb::kMigModeOn, "", 0, 0).message, "MIG mode was on already");
  EXPECT_EQ(carry_out(gpus, machine, DeviceVerb::kCreate, "7g.80gb", 0, 0).outcome, DeviceOutcome::kDone);

  end = carry_out(gpus, machine, DeviceVerb::kMigModeOn, "", 0, 1);
  EXPECT_EQ(end.outcome, DeviceOutcome::kDone) << end.message;
  EXPECT_TRUE(end.reading->is_mig_on);
  machine.change(1, [](GpuRecord& record) {
    record.is_mig_on = record.is_mig_pending_on = 0;
    ASSERT_TRUE(nvml_sim::add_process(record, {.pid = 40}));
  });
  const GpuAnswer<ModeChange> in_use = gpus.changer->set_mig_mode(machine.uuid(1), true);
  ASSERT_TRUE(in_use.has_value());
  EXPECT_EQ(*in_use, ModeChange::kInUse);

  end = carry_out(gpus, machine, DeviceVerb::kMigModeOn, "", 0, 2);
  EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
  EXPECT_EQ(end.error, "NVML_ERROR_NOT_SUPPORTED");
}

TEST_F(GpuChangerOfNvml, FailuresNameTheCall) {
  SimulatedMachine machine({"A100-80GB"});
  ChangeableGpus gpus = open_both();
  const std::string uuid = machine.uuid(0);
  constexpr std::uint32_t kNobody = 14;
  EXPECT_EQ(gpus.changer->create_compute_instance(uuid, kNobody).error().call, "nvmlDeviceGetGpuInstanceById");
  EXPECT_EQ(gpus.changer->destroy_gpu_instance(uuid, kNobody).error().code_name, "NVML_ERROR_NOT_FOUND");
  EXPECT_EQ(gpus.changer->destroy_gpu_instance("GPU-nobody", 0).error().call, "nvmlDeviceGetHandleByUUID");
  const auto instance = static_cast<std::uint32_t>(machine.create(0, "2g.20gb"));
  EXPECT_EQ(gpus.changer->destroy_compute_instance(uuid, instance, 5).error().call,
            "nvmlGpuInstanceGetComputeInstanceById");
  const GpuCallFailure in_use = gpus.changer->destroy_gpu_instance(uuid, instance).error();
  EXPECT_EQ(in_use.call, "nvmlGpuInstanceDestroy");
  EXPECT_TRUE(in_use.is_in_use);
  EXPECT_EQ(gpus.changer->create_compute_instance(uuid, instance).error().code_name,
            "NVML_ERROR_INSUFFICIENT_RESOURCES");
}

TEST_F(GpuChangerOfNvml, WhatWasCarriedOutIsDoneWhateverTheLibrarySays) {
  SimulatedMachine machine({"A100-80GB"});
  ChangeableGpus gpus = open_both();
  nvml_sim::FaultRecord fault{.is_done = 1, .error = static_cast<std::int32_t>(Code::kTimeout), .times = 1};
  for (const char* call : {"create_gpu_instance", "create_compute_instance"}) add_fault(machine, call, fault);
  EXPECT_EQ(carry_out(gpus, machine, DeviceVerb::kCreate, "3g.40gb", 4).outcome, DeviceOutcome::kDone);
  for (const char* call : {"destroy_gpu_instance", "destroy_compute_instance"}) add_fault(machine, call, fault);
  EXPECT_EQ(carry_out(gpus, machine, DeviceVerb::kDestroy, "3g.40gb", 4).outcome, DeviceOutcome::kDone);

  fault.is_done = 0;
  add_fault(machine, "create_compute_instance", fault);
  const DeviceEnd end = carry_out(gpus, machine, DeviceVerb::kCreate, "3g.40gb", 4);
  EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
  EXPECT_EQ(end.call, "nvmlGpuInstanceCreateComputeInstance");
  EXPECT_THAT(end.reading->instances, IsEmpty());
}

TEST_F(GpuChangerOfNvml, HoldersAreNamed) {
  SimulatedMachine machine({"A100-80GB"});
  ChangeableGpus gpus = open_both();
  const auto instance = static_cast<std::uint32_t>(machine.create(0, "7g.80gb"));
  const auto pid = static_cast<std::uint32_t>(::getpid());
  machine.change(0, [&](GpuRecord& gpu) { ASSERT_TRUE(nvml_sim::add_process(gpu, {pid, instance, 0, 500})); });
  const DeviceEnd end = carry_out(gpus, machine, DeviceVerb::kDestroy, "7g.80gb", 0);
  EXPECT_EQ(end.outcome, DeviceOutcome::kBusy);
  ASSERT_THAT(end.holders, SizeIs(1));
  EXPECT_EQ(end.holders.front().pid, pid);
  EXPECT_THAT(end.holders.front().name, HasSubstr("berth_edges_nvml_test"));
}

TEST_F(GpuChangerOfNvml, TheTimesOfTheCallsAreMeasured) {
  SimulatedMachine machine({"A100-80GB"});
  machine.file().change_all([](MachineRecord& record) {
    record.latency_us[static_cast<int>(nvml_sim::Latency::kCreateGpuInstance)] = 20'000;
    record.latency_us[static_cast<int>(nvml_sim::Latency::kDestroyComputeInstance)] = 10'000;
  });
  ChangeableGpus gpus = open_both();
  DeviceEnd end = carry_out(gpus, machine, DeviceVerb::kCreate, "7g.80gb", 0);
  EXPECT_GE(end.gpu_instance_us, 20'000);
  EXPECT_GT(end.compute_instance_us, 0);
  end = carry_out(gpus, machine, DeviceVerb::kDestroy, "7g.80gb", 0);
  EXPECT_GE(end.compute_instance_us, 10'000);
  EXPECT_GT(end.gpu_instance_us, 0);
}

TEST_F(GpuChangerOfNvml, AChangeThatHangsHoldsUpNoOtherGpu) {
  SimulatedMachine machine({"A100-80GB", "A100-80GB"});
  ChangeableGpus gpus = open_both();
  add_fault(machine, "create_gpu_instance", {.times = 1, .delay_ms = 600'000});
  std::atomic<bool> has_returned = false;
  std::thread hanging([&] {
    EXPECT_EQ(carry_out(gpus, machine, DeviceVerb::kCreate, "7g.80gb", 0).outcome, DeviceOutcome::kDone);
    has_returned = true;
  });
  while (changing_calls(machine, 0) == 0) std::this_thread::yield();
  EXPECT_EQ(carry_out(gpus, machine, DeviceVerb::kCreate, "7g.80gb", 0, 1).outcome, DeviceOutcome::kDone);
  EXPECT_FALSE(has_returned);
  machine.change(0, [](GpuRecord& gpu) { nvml_sim::clear_faults(gpu); });
  hanging.join();
}

}  // namespace
}  // namespace berth::edges
