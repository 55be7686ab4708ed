#include "gpu/device/verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/device/testing/simulated_gpu.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/reset.h"
#include "gpu/nvml_sim/testing/gpus.h"

namespace berth::device {
namespace {

using nvml_abi::Code;
using nvml_sim::GpuRecord;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SimulatedGpu;
using ::testing::SizeIs;
using testing::Trouble;
using Kind = Trouble::Kind;

constexpr nvml_sim::Caller kRoot{.may_change = true};
constexpr std::uint64_t kIntent = 7;

/// Calls of a creation on an empty place, and of a destruction.
constexpr int kCreateGpuInstance = 1;
constexpr int kCreateComputeInstance = 2;
constexpr int kDestroyComputeInstance = 1;
constexpr int kDestroyGpuInstance = 3;

/// One GPU and orders about a 3g of it, which is at 4:4.
class Verbs : public ::testing::Test {
 protected:
  DeviceOrder order(DeviceVerb verb, bool was_tried = false) {
    return {.intent = kIntent,
            .verb = verb,
            .uuid = gpu_.uuid(),
            .profile_id = nvml_sim::testing::profile_id(gpu_.record(), "3g.40gb"),
            .start = 4,
            .length = 4,
            .was_tried = was_tried};
  }
  DeviceEnd carry_out(DeviceVerb verb, bool was_tried = false) {
    Tools tools{gpu_, gpu_, [this] { return gpu_.now_us(); }};
    DeviceEnd end = device::carry_out(tools, order(verb, was_tried));
    EXPECT_EQ(end.intent, kIntent);
    EXPECT_THAT(gpu_.wrongs(), IsEmpty());
    return end;
  }
  DeviceEnd create(std::vector<Trouble> troubles = {}, bool was_tried = false) {
    gpu_.script(std::move(troubles));
    return carry_out(DeviceVerb::kCreate, was_tried);
  }
  DeviceEnd destroy(std::vector<Trouble> troubles = {}, bool was_tried = false) {
    gpu_.script(std::move(troubles));
    return carry_out(DeviceVerb::kDestroy, was_tried);
  }
  void create_ours() { ASSERT_EQ(create().outcome, DeviceOutcome::kDone); }

  /// The actions of other programs.
  static int create_by_others(GpuRecord& gpu, std::string_view profile, nvml_sim::Interval place) {
    const auto id = nvml_sim::create_gpu_instance(gpu, nvml_sim::testing::profile_id(gpu, profile), place, kRoot);
    EXPECT_TRUE(id.has_value());
    return id.value_or(0);
  }
  static void add_compute(GpuRecord& gpu, int gpu_instance, int slices) {
    const auto profile = nvml_sim::compute_profile_of_slices(slices);
    EXPECT_TRUE(nvml_sim::create_compute_instance(gpu, gpu_instance, profile, std::nullopt, kRoot).has_value());
  }
  void add_process(std::uint32_t pid) {
    ASSERT_TRUE(nvml_sim::add_process(gpu_.record(), {.pid = pid, .gpu_instance = kId, .compute_instance = 0}));
  }
  /// How many GPU instances exist, and how many compute instances ours has.
  int instances() {
    int count = 0;
    for (const auto& instance : gpu_.record().gpu_instances) count += instance.is_there;
    return count;
  }
  int computes() {
    int count = 0;
    for (const auto& compute : gpu_.record().gpu_instances[kId].compute_instances) count += compute.is_there;
    return count;
  }

  static constexpr std::uint32_t kId = 2;  ///< the id that the device gives an instance at 4:4
  SimulatedGpu gpu_{nvml_sim::testing::gpu_of("A100-80GB")};
};

TEST_F(Verbs, CreateMakesBothInstances) {
  gpu_.take_us(200'000);
  const DeviceEnd end = create();
  EXPECT_EQ(end.outcome, DeviceOutcome::kDone);
  EXPECT_EQ(end.message, "");
  EXPECT_EQ(end.mig_uuid, nvml_sim::mig_uuid(gpu_.record(), {kId, 0}));
  EXPECT_EQ(end.memory_mib, gpu_.record().gpu_instances[kId].memory_mib);
  EXPECT_EQ(end.gpu_instance_us, 200'000);
  EXPECT_EQ(end.compute_instance_us, 200'000);
  ASSERT_TRUE(end.reading.has_value());
  ASSERT_THAT(end.reading->instances, SizeIs(1));
  EXPECT_TRUE(end.reading->instances[0].compute_instances[0].is_whole);
  EXPECT_EQ(gpu_.changing_calls(), 2);
}

TEST_F(Verbs, CreateRefusesWhatStandsThere) {
  const int other = create_by_others(gpu_.record(), "2g.20gb", {4, 2});
  DeviceEnd end = create();
  EXPECT_EQ(end.outcome, DeviceOutcome::kRefused);
  EXPECT_EQ(end.message, "wanted a GPU instance of profile 9 at 4:4, found one of others there: profile 14 at 4:2");
  EXPECT_EQ(create({}, true).outcome, DeviceOutcome::kRefused);
  ASSERT_EQ(nvml_sim::destroy_gpu_instance(gpu_.record(), other, kRoot), Code::kSuccess);
  create_by_others(gpu_.record(), "3g.40gb", {4, 4});
  end = create();
  EXPECT_EQ(end.message, "wanted a GPU instance of profile 9 at 4:4, found one of others there: profile 9 at 4:4");
  EXPECT_EQ(gpu_.changing_calls(), 0);
}

TEST_F(Verbs, CreateOfOneThatWasTriedGoesOn) {
  create_ours();
  DeviceEnd end = create({}, true);
  EXPECT_EQ(end.outcome, DeviceOutcome::kDone);
  EXPECT_EQ(end.message, "it stood already");
  EXPECT_EQ(end.gpu_instance_us, 0);
  EXPECT_NE(end.mig_uuid, "");
  EXPECT_EQ(gpu_.calls(), 1);

  ASSERT_EQ(nvml_sim::destroy_compute_instance(gpu_.record(), kId, 0, kRoot), Code::kSuccess);
  end = create({}, true);
  EXPECT_EQ(end.outcome, DeviceOutcome::kDone);
  EXPECT_EQ(end.message, "its GPU instance stood already");
  EXPECT_EQ(computes(), 1);

  ASSERT_EQ(nvml_sim::destroy_compute_instance(gpu_.record(), kId, 0, kRoot), Code::kSuccess);
  add_compute(gpu_.record(), kId, 2);
  end = create({}, true);
  EXPECT_EQ(end.outcome, DeviceOutcome::kRefused);
  EXPECT_THAT(end.message, HasSubstr("found compute instances of others"));
  EXPECT_EQ(computes(), 1);
}

TEST_F(Verbs, CreateThatTheDeviceRefusesNamesTheCall) {
  create_by_others(gpu_.record(), "4g.40gb", {0, 4});
  create_by_others(gpu_.record(), "2g.20gb", {4, 2});
  DeviceOrder wanted = order(DeviceVerb::kCreate);
  wanted.profile_id = nvml_sim::testing::profile_id(gpu_.record(), "2g.20gb");
  wanted.start = 6;  // not a legal start of a 2g
  wanted.length = 2;
  Tools tools{gpu_, gpu_, [] { return 0; }};
  const DeviceEnd end = device::carry_out(tools, wanted);
  EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
  EXPECT_EQ(end.call, "nvmlDeviceCreateGpuInstanceWithPlacement");
  EXPECT_EQ(end.error, "NVML_ERROR_INVALID_ARGUMENT");
  EXPECT_EQ(
      end.message,
      "nvmlDeviceCreateGpuInstanceWithPlacement answered NVML_ERROR_INVALID_ARGUMENT: a GPU instance of profile 14 at "
      "6:2 was not created");
  EXPECT_THAT(end.reading->instances, SizeIs(2));
}

TEST_F(Verbs, CreateInUseNamesWhoIsOnTheGpu) {
  ASSERT_TRUE(nvml_sim::add_process(gpu_.record(), {.pid = 40}));
  const DeviceEnd end = create({{.at_call = kCreateGpuInstance, .kind = Kind::kRefused, .code = Code::kInUse}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kBusy);
  EXPECT_THAT(end.holders, ElementsAre(DeviceHolder{40, "process-40"}));
  EXPECT_EQ(end.message, "the GPU is in use: pid 40 (process-40)");
}

TEST_F(Verbs, CreateCountsWhatWasCarriedOutAsDone) {
  for (const int call : {kCreateGpuInstance, kCreateComputeInstance}) {
    const DeviceEnd end = create({{.at_call = call, .kind = Kind::kDoneButFailed, .code = Code::kTimeout}});
    EXPECT_EQ(end.outcome, DeviceOutcome::kDone);
    EXPECT_THAT(end.message, HasSubstr("NVML_ERROR_TIMEOUT, but it was carried out"));
    EXPECT_EQ(end.error, "");
    EXPECT_NE(end.mig_uuid, "");
    EXPECT_EQ(computes(), 1);
    ASSERT_EQ(destroy().outcome, DeviceOutcome::kDone);
  }
}

TEST_F(Verbs, CreateRemovesAGpuInstanceWithoutAComputeInstance) {
  DeviceEnd end = create({{.at_call = kCreateComputeInstance}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
  EXPECT_EQ(end.call, "nvmlGpuInstanceCreateComputeInstance");
  EXPECT_EQ(end.error, "NVML_ERROR_UNKNOWN");
  EXPECT_THAT(end.message, HasSubstr("a GPU instance of profile 9 at 4:4 was removed again"));
  EXPECT_EQ(instances(), 0);
  EXPECT_THAT(end.reading->instances, IsEmpty());

  constexpr int kUndo = 4;
  end = create({{.at_call = kCreateComputeInstance}, {.at_call = kUndo, .code = Code::kInUse}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
  EXPECT_THAT(end.message,
              HasSubstr("stands without a compute instance: nvmlGpuInstanceDestroy answered NVML_ERROR_IN_USE"));
  EXPECT_EQ(instances(), 1);
  EXPECT_EQ(create({}, true).outcome, DeviceOutcome::kDone);
}

TEST_F(Verbs, CreateLeavesWhatOthersMadeMeanwhile) {
  const auto same = [](GpuRecord& gpu) { create_by_others(gpu, "3g.40gb", {4, 4}); };
  EXPECT_EQ(create({{.at_call = kCreateGpuInstance, .kind = Kind::kEvent, .event = same}}).outcome,
            DeviceOutcome::kRefused);
  EXPECT_EQ(instances(), 1);
  ASSERT_EQ(nvml_sim::destroy_gpu_instance(gpu_.record(), kId, kRoot), Code::kSuccess);

  const auto part = [](GpuRecord& gpu) { create_by_others(gpu, "1g.10gb", {5, 1}); };
  DeviceEnd end = create({{.at_call = kCreateGpuInstance, .kind = Kind::kEvent, .event = part}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kRefused);
  EXPECT_THAT(end.message, HasSubstr("profile 19 at 5:1"));
  EXPECT_EQ(instances(), 1);
  nvml_sim::reset_gpu(gpu_.record());

  const auto compute = [](GpuRecord& gpu) { add_compute(gpu, kId, 1); };
  end = create({{.at_call = kCreateComputeInstance, .kind = Kind::kEvent, .event = compute}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kRefused);
  EXPECT_EQ(computes(), 1);
}

TEST_F(Verbs, CreateSaysWhatItCannotRead) {
  DeviceEnd end = create({{.at_call = 0, .kind = Kind::kLost}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
  EXPECT_EQ(end.message,
            "nvmlDeviceGetMigMode answered NVML_ERROR_GPU_IS_LOST: the GPU cannot be read, so nothing was tried");
  EXPECT_FALSE(end.reading.has_value());
  EXPECT_EQ(gpu_.calls(), 1);

  gpu_.record().is_lost = 0;
  end = create({{.at_call = kCreateGpuInstance, .kind = Kind::kDoneButFailed},
                {.at_call = kCreateGpuInstance + 1, .kind = Kind::kLost}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
  EXPECT_EQ(end.call, "nvmlDeviceCreateGpuInstanceWithPlacement");
  EXPECT_THAT(end.message, HasSubstr("nobody knows what stands at 4:4"));
  EXPECT_FALSE(end.reading.has_value());

  gpu_.record().is_lost = 0;
  end = create({{.at_call = 0}, {.at_call = 1}}, true);  // a failed reading is repeated
  EXPECT_EQ(end.outcome, DeviceOutcome::kDone);

  ASSERT_EQ(destroy().outcome, DeviceOutcome::kDone);
  constexpr int kLastReading = 3;
  end = create({{.at_call = kLastReading}, {.at_call = kLastReading + 1}, {.at_call = kLastReading + 2}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kDone);
  EXPECT_THAT(end.message, HasSubstr("was created, but cannot be read"));
  EXPECT_FALSE(end.reading.has_value());
}

TEST_F(Verbs, CreateWithoutMigModeFails) {
  gpu_.record().is_mig_on = 0;
  const DeviceEnd end = create();
  EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
  EXPECT_EQ(end.message, "MIG mode is off");
  EXPECT_EQ(gpu_.changing_calls(), 0);
}

TEST_F(Verbs, DestroyRemovesBothInstances) {
  create_ours();
  gpu_.take_us(50'000);
  DeviceEnd end = destroy();
  EXPECT_EQ(end.outcome, DeviceOutcome::kDone);
  EXPECT_EQ(end.message, "");
  EXPECT_EQ(end.gpu_instance_us, 50'000);
  EXPECT_EQ(end.compute_instance_us, 50'000);
  EXPECT_EQ(instances(), 0);

  end = destroy();
  EXPECT_EQ(end.outcome, DeviceOutcome::kDone);
  EXPECT_EQ(end.message, "nothing stood there");
  EXPECT_EQ(end.gpu_instance_us, 0);
}

TEST_F(Verbs, DestroyRefusesWhatIsNotItsOwn) {
  create_by_others(gpu_.record(), "1g.10gb", {6, 1});
  DeviceEnd end = destroy();
  EXPECT_EQ(end.outcome, DeviceOutcome::kRefused);
  EXPECT_THAT(end.message, HasSubstr("found one of others there: profile 19 at 6:1"));
  nvml_sim::reset_gpu(gpu_.record());

  create_ours();
  ASSERT_EQ(nvml_sim::destroy_compute_instance(gpu_.record(), kId, 0, kRoot), Code::kSuccess);
  add_compute(gpu_.record(), kId, 1);
  const int calls = gpu_.changing_calls();
  end = destroy();
  EXPECT_EQ(end.outcome, DeviceOutcome::kRefused);
  EXPECT_EQ(gpu_.changing_calls(), calls);
  EXPECT_EQ(computes(), 1);
}

TEST_F(Verbs, DestroyOfOneInUseNamesTheHolders) {
  create_ours();
  gpu_.destroy_in_use();
  add_process(31);
  add_process(30);
  const int calls = gpu_.changing_calls();
  DeviceEnd end = destroy();
  EXPECT_EQ(end.outcome, DeviceOutcome::kBusy);
  EXPECT_THAT(end.holders, ElementsAre(DeviceHolder{30, "process-30"}, DeviceHolder{31, "process-31"}));
  EXPECT_EQ(end.message, "a GPU instance of profile 9 at 4:4 is in use: pid 30 (process-30), pid 31 (process-31)");
  EXPECT_EQ(end.call, "");
  EXPECT_EQ(gpu_.changing_calls(), calls);
}

TEST_F(Verbs, DestroyOfOneInUseByNobodySaysSo) {
  create_ours();
  gpu_.hide_processes();
  add_process(30);
  const DeviceEnd end = destroy();
  EXPECT_EQ(end.outcome, DeviceOutcome::kBusy);
  EXPECT_THAT(end.holders, IsEmpty());
  EXPECT_EQ(end.call, "nvmlComputeInstanceDestroy");
  EXPECT_EQ(end.error, "NVML_ERROR_IN_USE");
  EXPECT_EQ(end.message, "a GPU instance of profile 9 at 4:4 is in use: the driver names no process");
  EXPECT_EQ(computes(), 1);
}

TEST_F(Verbs, DestroyIsDoneWhenNothingIsLeft) {
  for (const int call : {kDestroyComputeInstance, kDestroyGpuInstance}) {
    create_ours();
    const DeviceEnd end = destroy({{.at_call = call, .kind = Kind::kDoneButFailed, .code = Code::kInUse}});
    EXPECT_EQ(end.outcome, DeviceOutcome::kDone);
    EXPECT_EQ(end.error, "");
    EXPECT_EQ(instances(), 0);
  }
}

TEST_F(Verbs, DestroyThatFailsLeavesItWhole) {
  create_ours();
  for (const int call : {kDestroyComputeInstance, kDestroyGpuInstance}) {
    DeviceEnd end = destroy({{.at_call = call}});
    EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
    EXPECT_EQ(end.error, "NVML_ERROR_UNKNOWN");
    EXPECT_THAT(end.message, HasSubstr("a GPU instance of profile 9 at 4:4 was not destroyed"));
    EXPECT_EQ(computes(), 1);
    EXPECT_TRUE(end.reading->instances[0].compute_instances[0].is_whole);
    end = destroy({{.at_call = call, .code = Code::kInUse}});
    EXPECT_EQ(end.outcome, DeviceOutcome::kBusy);
    EXPECT_EQ(computes(), 1);
  }
  constexpr int kRestore = 5;
  const DeviceEnd end = destroy({{.at_call = kDestroyGpuInstance}, {.at_call = kRestore, .code = Code::kNoPermission}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
  EXPECT_THAT(end.message, HasSubstr("without its compute instance, as nvmlGpuInstanceCreateComputeInstance answered "
                                     "NVML_ERROR_NO_PERMISSION"));
  EXPECT_EQ(computes(), 0);
  EXPECT_EQ(destroy({}, true).outcome, DeviceOutcome::kDone);
}

TEST_F(Verbs, DestroyLeavesWhatOthersMadeMeanwhile) {
  create_ours();
  const auto replace = [](GpuRecord& gpu) {
    ASSERT_EQ(nvml_sim::destroy_gpu_instance(gpu, kId, kRoot), Code::kSuccess);
    create_by_others(gpu, "1g.10gb", {4, 1});
  };
  constexpr int kReadingBetween = 2;
  DeviceEnd end = destroy({{.at_call = kReadingBetween, .kind = Kind::kEvent, .event = replace}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kDone);
  EXPECT_EQ(end.message, "somebody else destroyed it");
  EXPECT_EQ(instances(), 1);
  nvml_sim::reset_gpu(gpu_.record());

  create_ours();
  const auto compute = [](GpuRecord& gpu) { add_compute(gpu, kId, 3); };
  const int calls = gpu_.changing_calls();
  end = destroy({{.at_call = kReadingBetween, .kind = Kind::kEvent, .event = compute}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kRefused);
  EXPECT_EQ(computes(), 1);
  EXPECT_EQ(gpu_.changing_calls(), calls + 1);
}

/// Orders to turn MIG on.
class TurnMigOn : public ::testing::Test {
 protected:
  static DeviceEnd turn_on(SimulatedGpu& gpu, std::vector<Trouble> troubles = {}) {
    gpu.script(std::move(troubles));
    Tools tools{gpu, gpu, [] { return 0; }};
    return carry_out(tools, {.intent = kIntent, .verb = DeviceVerb::kMigModeOn, .uuid = gpu.uuid()});
  }
  static SimulatedGpu gpu_of(std::string_view model) {
    GpuRecord record = nvml_sim::testing::gpu_of(model);
    record.is_mig_on = 0;
    record.is_mig_pending_on = 0;
    return SimulatedGpu(record);
  }
};

TEST_F(TurnMigOn, IsDoneAtOnceOnHopper) {
  SimulatedGpu gpu = gpu_of("H100-80GB");
  DeviceEnd end = turn_on(gpu);
  EXPECT_EQ(end.outcome, DeviceOutcome::kDone);
  EXPECT_TRUE(end.reading->is_mig_on);
  end = turn_on(gpu);
  EXPECT_EQ(end.message, "MIG mode was on already");
  EXPECT_EQ(gpu.changing_calls(), 1);
}

TEST_F(TurnMigOn, NeedsAResetOnAmpere) {
  SimulatedGpu gpu = gpu_of("A100-80GB");
  for (int time = 0; time < 2; ++time) {
    const DeviceEnd end = turn_on(gpu);
    EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
    EXPECT_EQ(end.message, "MIG mode is pending: it needs a reset of the GPU");
    EXPECT_TRUE(end.reading->is_mig_pending_on);
  }
}

TEST_F(TurnMigOn, IsBusyWhileAProcessIsThere) {
  SimulatedGpu gpu = gpu_of("H100-80GB");
  const auto process = [](GpuRecord& record) { ASSERT_TRUE(nvml_sim::add_process(record, {.pid = 40})); };
  DeviceEnd end = turn_on(gpu, {{.at_call = 1, .kind = Kind::kEvent, .event = process}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kBusy);
  EXPECT_THAT(end.holders, ElementsAre(DeviceHolder{40, "process-40"}));
  end = turn_on(gpu);
  EXPECT_EQ(end.outcome, DeviceOutcome::kBusy);
  EXPECT_EQ(gpu.changing_calls(), 1);
  ASSERT_TRUE(nvml_sim::remove_process(gpu.record(), 40U));
  EXPECT_EQ(turn_on(gpu).outcome, DeviceOutcome::kDone);
}

TEST_F(TurnMigOn, FailuresAreJudgedByTheDevice) {
  SimulatedGpu gpu = gpu_of("H100-80GB");
  DeviceEnd end = turn_on(gpu, {{.at_call = 1}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
  EXPECT_EQ(end.call, "nvmlDeviceSetMigMode");
  EXPECT_EQ(end.message, "nvmlDeviceSetMigMode answered NVML_ERROR_UNKNOWN: MIG mode is still off");
  end = turn_on(gpu, {{.at_call = 1, .code = Code::kInUse}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kBusy);
  end = turn_on(gpu, {{.at_call = 1, .kind = Kind::kDoneButFailed}});
  EXPECT_EQ(end.outcome, DeviceOutcome::kDone);

  SimulatedGpu without = gpu_of("T4");
  end = turn_on(without);
  EXPECT_EQ(end.outcome, DeviceOutcome::kFailed);
  EXPECT_EQ(end.error, "NVML_ERROR_NOT_SUPPORTED");
}

}  // namespace
}  // namespace berth::device
