// Calls that fail, are slow or hang: their effects, and what keeps working meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "gpu/nvml_sim/faults.h"
#include "gpu/nvml_sim/reset.h"
#include "gpu/nvml_sim_library/exports.h"
#include "gpu/nvml_sim_library/testing/simulated.h"

namespace berth::nvml_abi {
namespace {

using edges::testing::device;
using edges::testing::Simulated;
using edges::testing::wait_until;
using nvml_sim::GpuRecord;
using nvml_sim::Latency;
using std::chrono::milliseconds;

constexpr std::uint32_t kOneSlice = 19;  // 1g.10gb
constexpr milliseconds kForEver{120'000};

/// A call in another thread.
class Calling {
 public:
  explicit Calling(std::function<Code()> call)
      : thread_([this, call = std::move(call)] {
          code_ = call();
          is_over_ = true;
        }) {}
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;
  ~Calling() {
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] Code finish() {
    thread_.join();
    return code_;
  }

 private:
  std::atomic<Code> code_ = Code::kUnknown;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

Code creation_code(Device gpu) {
  GpuInstance instance = nullptr;
  return nvmlDeviceCreateGpuInstance(gpu, kOneSlice, &instance);
}
Code set_mode(Device gpu) {
  Code activation = Code::kSuccess;
  return nvmlDeviceSetMigMode(gpu, kMigEnabled, &activation);
}
Code read_mode(Device gpu) {
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  return nvmlDeviceGetMigMode(gpu, &current, &pending);
}
Code read_count() {
  std::uint32_t count = 0;
  return nvmlDeviceGetCount_v2(&count);
}
Code read_memory(Device gpu) {
  MemoryV2 memory{.version = version_of<MemoryV2>(2)};
  return nvmlDeviceGetMemoryInfo_v2(gpu, &memory);
}

milliseconds time_of(const std::function<Code()>& call, Code wanted = Code::kSuccess) {
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(call(), wanted);
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begun);
}

class LibraryFault : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
    first_ = device(0);
    second_ = device(1);
  }
  /// Whether exactly one changing call has reached this GPU.
  bool is_changing(std::uint32_t gpu) {
    return wait_until([&] { return machine_.gpu(gpu).changing_calls == 1; });
  }
  Simulated machine_{{"H100-80GB-SXM5", "H100-80GB-SXM5"}};
  Device first_ = nullptr;
  Device second_ = nullptr;
};

TEST_F(LibraryFault, ACallIsRefusedInsteadOfCarriedOut) {
  machine_.add_fault(0, "nvmlDeviceCreateGpuInstance", Code::kInUse);
  GpuInstance instance = nullptr;
  EXPECT_EQ(nvmlDeviceCreateGpuInstance(first_, kOneSlice, &instance), Code::kInUse);
  EXPECT_EQ(instance, nullptr);
  EXPECT_FALSE(nvml_sim::has_instances(machine_.gpu(0)));
  EXPECT_EQ(machine_.gpu(0).changing_calls, 1U) << "it reached the device";
  EXPECT_EQ(creation_code(first_), Code::kSuccess) << "once only";
}

TEST_F(LibraryFault, ACallIsCarriedOutAndReportedAsFailed) {
  machine_.add_fault(0, "create_gpu_instance", Code::kUnknown, {.is_done = 1});
  GpuInstance instance = nullptr;
  EXPECT_EQ(nvmlDeviceCreateGpuInstance(first_, kOneSlice, &instance), Code::kUnknown);
  EXPECT_EQ(instance, nullptr) << "who is told that it failed gets no handle";
  EXPECT_TRUE(nvml_sim::has_instances(machine_.gpu(0)));
  std::uint32_t count = 0;
  EXPECT_EQ(nvmlDeviceGetGpuInstances(first_, kOneSlice, &instance, &count), Code::kSuccess);
  ASSERT_EQ(count, 1U);
  machine_.add_fault(0, "destroy_gpu_instance", Code::kTimeout, {.is_done = 1});
  EXPECT_EQ(nvmlGpuInstanceDestroy(instance), Code::kTimeout);
  EXPECT_FALSE(nvml_sim::has_instances(machine_.gpu(0)));
  EXPECT_EQ(nvmlGpuInstanceDestroy(instance), Code::kInvalidArgument) << "it is gone";
}

TEST_F(LibraryFault, SomeCallsPassBeforeAndAfter) {
  machine_.add_fault(0, "nvmlDeviceGetMigMode", Code::kTimeout, {.after = 2, .times = 3});
  for (const Code wanted : {Code::kSuccess, Code::kSuccess, Code::kTimeout, Code::kTimeout, Code::kTimeout}) {
    EXPECT_EQ(read_mode(second_), Code::kSuccess) << "it is on the other GPU";
    EXPECT_EQ(read_mode(first_), wanted);
  }
  EXPECT_EQ(read_mode(first_), Code::kSuccess);
}

TEST_F(LibraryFault, NamesMeanEveryVersionOrThatOne) {
  machine_.add_fault(0, "nvmlDeviceGetMemoryInfo", Code::kTimeout, {.times = 2});
  EXPECT_EQ(read_memory(first_), Code::kTimeout);
  MemoryV1 memory;
  EXPECT_EQ(nvmlDeviceGetMemoryInfo(first_, &memory), Code::kTimeout);
  machine_.add_fault(0, "nvmlDeviceGetMemoryInfo_v2", Code::kTimeout);
  EXPECT_EQ(nvmlDeviceGetMemoryInfo(first_, &memory), Code::kSuccess);
  EXPECT_EQ(read_memory(first_), Code::kTimeout);
  machine_.add_fault(1, "nvmlDeviceGetCount", Code::kUnknown);
  EXPECT_EQ(read_count(), Code::kUnknown) << "of the machine: any GPU's faults";
  machine_.add_fault(0, "nvmlDeviceSetPersistenceMode", Code::kNoPermission);
  machine_.add_fault(0, "nvmlDeviceGetHandleByIndex", Code::kUnknown);
  Device found = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(1, &found), Code::kSuccess);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(0, &found), Code::kUnknown);
}

TEST_F(LibraryFault, WrongCallsAreRefusedBeforeAFaultIsMet) {
  machine_.add_fault(0, "nvmlDeviceGetMigMode", Code::kUnknown);
  machine_.add_fault(0, "set_mig_mode", Code::kUnknown);
  EXPECT_EQ(nvmlDeviceGetMigMode(first_, nullptr, nullptr), Code::kInvalidArgument);
  EXPECT_EQ(nvmlDeviceSetMigMode(first_, kMigEnabled, nullptr), Code::kInvalidArgument);
  machine_.change(0, [](GpuRecord& gpu) { nvml_sim::lose(gpu); });
  EXPECT_EQ(read_mode(first_), Code::kGpuIsLost);
  EXPECT_EQ(set_mode(first_), Code::kGpuIsLost);
  machine_.change(0, [](GpuRecord& gpu) { nvml_sim::reset_gpu(gpu); });
  EXPECT_EQ(read_mode(first_), Code::kUnknown) << "it is left";
  EXPECT_EQ(set_mode(first_), Code::kUnknown);
}

TEST_F(LibraryFault, SlowCallsTakeTheirTimeAndAreCarriedOut) {
  machine_.add_fault(0, "nvmlDeviceGetMigMode", Code::kSuccess, {.delay_ms = 60});
  machine_.add_fault(0, "create_gpu_instance", Code::kSuccess, {.delay_ms = 60});
  machine_.add_fault(0, "set_mig_mode", Code::kInUse, {.delay_ms = 60});
  EXPECT_GE(time_of([&] { return read_mode(first_); }), milliseconds(60));
  EXPECT_GE(time_of([&] { return creation_code(first_); }), milliseconds(60));
  EXPECT_GE(time_of([&] { return set_mode(first_); }, Code::kInUse), milliseconds(60));
  EXPECT_TRUE(nvml_sim::has_instances(machine_.gpu(0)));
}

TEST_F(LibraryFault, AChangeThatHangsHoldsUpOnlyOtherChangesOfItsGpu) {
  machine_.hang(0, "create_gpu_instance");
  Calling hanging([&] { return creation_code(first_); });
  ASSERT_TRUE(is_changing(0));
  EXPECT_EQ(read_mode(first_), Code::kSuccess);
  EXPECT_EQ(read_count(), Code::kSuccess);
  EXPECT_EQ(creation_code(second_), Code::kSuccess);
  EXPECT_FALSE(nvml_sim::has_instances(machine_.gpu(0)));
  Calling waiting([&] { return set_mode(first_); });
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_FALSE(waiting.is_over());
  EXPECT_FALSE(hanging.is_over());
  EXPECT_EQ(machine_.gpu(0).changing_calls, 1U);

  machine_.clear_faults(0);
  EXPECT_EQ(hanging.finish(), Code::kSuccess);
  EXPECT_EQ(waiting.finish(), Code::kSuccess);
  EXPECT_TRUE(nvml_sim::has_instances(machine_.gpu(0)));
  EXPECT_EQ(machine_.gpu(0).changing_calls, 2U);
}

TEST_F(LibraryFault, AChangeThatHangsAfterItsEffectIsSeenMeanwhile) {
  machine_.add_fault(0, "create_gpu_instance", Code::kTimeout, {.is_done = 1, .delay_ms = kForEver.count()});
  Calling hanging([&] { return creation_code(first_); });
  EXPECT_TRUE(wait_until([&] { return nvml_sim::has_instances(machine_.gpu(0)); }));
  EXPECT_FALSE(hanging.is_over());
  machine_.clear_faults(0);
  EXPECT_EQ(hanging.finish(), Code::kTimeout);
}

TEST_F(LibraryFault, AReadThatHangsHoldsUpNobody) {
  machine_.hang(0, "nvmlDeviceGetMemoryInfo");
  Calling hanging([&] { return read_memory(first_); });
  ASSERT_TRUE(wait_until([&] { return !nvml_sim::has_faults(machine_.gpu(0)); })) << "the call takes it";
  EXPECT_EQ(read_mode(first_), Code::kSuccess);
  EXPECT_EQ(read_memory(first_), Code::kSuccess);
  EXPECT_EQ(creation_code(first_), Code::kSuccess);
  EXPECT_FALSE(hanging.is_over());
  machine_.clear_faults(0);
  EXPECT_EQ(hanging.finish(), Code::kSuccess);
}

TEST_F(LibraryFault, ACallAboutTheMachineHangsUntilTheFaultOfItsGpuIsTakenBack) {
  machine_.add_fault(0, "nvmlDeviceGetMigMode", Code::kUnknown);  // another fault, on a GPU before
  machine_.hang(1, "nvmlDeviceGetCount");
  Calling hanging([&] { return read_count(); });
  ASSERT_TRUE(wait_until([&] { return !nvml_sim::has_faults(machine_.gpu(1)); }));
  machine_.clear_faults(0);
  std::this_thread::sleep_for(milliseconds(120));
  EXPECT_FALSE(hanging.is_over());
  machine_.clear_faults(1);
  EXPECT_EQ(hanging.finish(), Code::kSuccess);
}

TEST_F(LibraryFault, AResetFreesAHangingCall) {
  machine_.hang(0, "set_mig_mode");
  Calling hanging([&] { return set_mode(first_); });
  ASSERT_TRUE(is_changing(0));
  machine_.change(0, [](GpuRecord& gpu) { nvml_sim::reset_gpu(gpu); });
  EXPECT_EQ(hanging.finish(), Code::kSuccess);
}

TEST_F(LibraryFault, AGpuThatIsLostDuringAChangeDoesNotTakeIt) {
  machine_.hang(0, "create_gpu_instance");
  Calling hanging([&] { return creation_code(first_); });
  ASSERT_TRUE(is_changing(0));
  machine_.change(0, [](GpuRecord& gpu) {
    nvml_sim::lose(gpu);
    nvml_sim::clear_faults(gpu);
  });
  EXPECT_EQ(hanging.finish(), Code::kGpuIsLost);
  EXPECT_FALSE(nvml_sim::has_instances(machine_.gpu(0)));
}

TEST_F(LibraryFault, AnInstanceThatIsGoneDuringACallIsNotDestroyedTwice) {
  GpuInstance instance = nullptr;
  ASSERT_EQ(nvmlDeviceCreateGpuInstance(first_, kOneSlice, &instance), Code::kSuccess);
  machine_.hang(0, "destroy_gpu_instance");
  Calling hanging([&] { return nvmlGpuInstanceDestroy(instance); });
  ASSERT_TRUE(wait_until([&] { return machine_.gpu(0).changing_calls == 2; }));
  machine_.change(0, [](GpuRecord& gpu) {
    for (auto& record : gpu.gpu_instances) record = {};
    nvml_sim::clear_faults(gpu);
  });
  EXPECT_EQ(hanging.finish(), Code::kInvalidArgument);
}

TEST_F(LibraryFault, ChangesOfOneGpuComeOneAfterTheOtherAndThoseOfTwoAtOnce) {
  machine_.set_latency(Latency::kCreateGpuInstance, kForEver);
  machine_.set_latency(Latency::kSetMigMode, kForEver);
  Calling first([&] { return creation_code(first_); });
  ASSERT_TRUE(is_changing(0));
  Calling second([&] { return set_mode(first_); });
  Calling other([&] { return creation_code(second_); });
  ASSERT_TRUE(is_changing(1)) << "of another GPU at once";
  EXPECT_EQ(read_mode(first_), Code::kSuccess) << "reads go on";
  machine_.clear_faults(0);  // ends the latency of the call under way
  EXPECT_EQ(first.finish(), Code::kSuccess);
  EXPECT_TRUE(wait_until([&] { return machine_.gpu(0).changing_calls == 2; })) << "now it is the second one's turn";
  EXPECT_FALSE(second.is_over());
  EXPECT_FALSE(other.is_over());
  machine_.clear_faults(0);
  machine_.clear_faults(1);
  EXPECT_EQ(second.finish(), Code::kSuccess);
  EXPECT_EQ(other.finish(), Code::kSuccess);
}

TEST_F(LibraryFault, LatenciesAreThoseOfTheirCalls) {
  machine_.set_latency(Latency::kRead, milliseconds(40));
  machine_.set_latency(Latency::kSetMigMode, milliseconds(60));
  machine_.set_latency(Latency::kInit, milliseconds(70));
  EXPECT_GE(time_of([&] { return read_mode(first_); }), milliseconds(40));
  EXPECT_GE(time_of([&] { return set_mode(first_); }), milliseconds(60));
  EXPECT_GE(time_of([] { return nvmlInit_v2(); }), milliseconds(70));
  machine_.set_latency(Latency::kCreateGpuInstance, kForEver);
  GpuInstance instance = nullptr;
  EXPECT_EQ(nvmlDeviceCreateGpuInstance(first_, 77, &instance), Code::kInvalidArgument) << "refusals take no time";
}

}  // namespace
}  // namespace berth::nvml_abi
