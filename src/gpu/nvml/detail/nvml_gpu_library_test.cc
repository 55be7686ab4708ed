#include "gpu/nvml/detail/nvml_gpu_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "domain/mig/board.h"
#include "domain/mig/catalogue.h"
#include "gpu/nvml/test_failures.h"
#include "gpu/nvml/test_simulated.h"
#include "gpu/nvml_abi/names.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/faults.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/mode.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/reset.h"
#include "gpu/nvml_sim/testing/gpus.h"

namespace berth::edges {
namespace {

using nvml_abi::Code;
using nvml_sim::FaultRecord;
using nvml_sim::GpuRecord;
using nvml_sim::MachineRecord;
using nvml_sim::testing::kRoot;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::SimulatedMachine;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// A driver that is queried while another program replaces instances: the first reading sees parts of both states.
int modes_asked = 0;
const nvml_abi::GpuInstance instance_handles[] = {reinterpret_cast<nvml_abi::GpuInstance>(&modes_asked),
                                                  reinterpret_cast<nvml_abi::GpuInstance>(&modes_asked + 1)};

detail::Functions replacing_driver() {
  detail::Functions functions;
  functions.nvmlShutdown = [] { return Code::kSuccess; };
  functions.nvmlSystemGetDriverVersion = [](char*, std::uint32_t) { return Code::kUnknown; };
  functions.nvmlSystemGetNVMLVersion = [](char*, std::uint32_t) { return Code::kUnknown; };
  functions.nvmlDeviceGetHandleByUUID = [](const char*, nvml_abi::Device*) { return Code::kSuccess; };
  functions.nvmlDeviceGetMigMode = [](nvml_abi::Device, std::uint32_t* current, std::uint32_t* pending) {
    ++modes_asked;
    *current = *pending = nvml_abi::kMigEnabled;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetGpuInstanceProfileInfo = [](nvml_abi::Device, std::uint32_t number,
                                                     nvml_abi::GpuInstanceProfileV1* profile) {
    profile->id = number;
    return number == 0 ? Code::kSuccess : Code::kNotSupported;
  };
  functions.nvmlDeviceGetGpuInstances = [](nvml_abi::Device, std::uint32_t, nvml_abi::GpuInstance* instances,
                                           std::uint32_t* count) {
    *count = modes_asked == 1 ? 2 : 1;
    std::ranges::copy(instance_handles, instances);
    return Code::kSuccess;
  };
  functions.nvmlGpuInstanceGetInfo = [](nvml_abi::GpuInstance instance, nvml_abi::GpuInstanceDescription* description) {
    description->placement =
        instance == instance_handles[0] ? nvml_abi::GpuInstancePlacement{0, 8} : nvml_abi::GpuInstancePlacement{6, 1};
    return Code::kSuccess;
  };
  functions.nvmlGpuInstanceGetComputeInstanceProfileInfo = [](nvml_abi::GpuInstance, std::uint32_t, std::uint32_t,
                                                              nvml_abi::ComputeInstanceProfileV1*) {
    return Code::kNotSupported;
  };
  return functions;
}

TEST(NvmlGpuLibrary, AMixedReadingIsReadAgain) {
  detail::NvmlGpuLibrary library(nullptr, replacing_driver(), "");
  const auto reading = library.read("GPU-1");
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(modes_asked, 2);
  EXPECT_THAT(reading->instances, SizeIs(1));
}

class GpusOfNvml : public OnSimulatedLibrary {
 protected:
  static void add_fault(SimulatedMachine& machine, std::uint32_t gpu, std::string_view call, const FaultRecord& given) {
    FaultRecord fault = given;
    fault.kind = FaultRecord::kAnswer;
    nvml_sim::put_text(fault.call, call);
    machine.change(gpu, [&](GpuRecord& record) { ASSERT_TRUE(nvml_sim::add_fault(record, fault)); });
  }

  static GpuReading read(GpuLibrary& library, const std::string& uuid) {
    const auto reading = library.read(uuid);
    if (!reading) ADD_FAILURE() << reading.error().call << ": " << reading.error().code_name;
    return reading ? *reading : GpuReading{};
  }

  /// Compares facts of a GPU with the catalogue's entry for its model.
  static void expect_catalogue(const GpuFacts& facts, const GpuModel& model) {
    const mig::Board& board = mig::board_of(model);
    EXPECT_EQ(facts.name, board.name);
    EXPECT_EQ(facts.pci_device_id, board.pci_device_id);
    EXPECT_EQ(facts.memory_mib, board.memory_mib);
    EXPECT_EQ(facts.is_mig_capable, model.is_mig_capable());
    ASSERT_EQ(facts.profiles.size(), model.profiles.size());
    std::optional<std::uint32_t> last;
    for (const GpuProfileFacts& seen : facts.profiles) {
      SCOPED_TRACE(seen.name);
      const auto id = mig::find_profile(model, seen.name);
      ASSERT_TRUE(id.has_value());
      const MigProfile& profile = model.profiles[id->index];
      EXPECT_EQ(seen.id, static_cast<std::uint32_t>(profile.device_profile_id));
      EXPECT_EQ(seen.compute_slices, profile.compute_slices);
      EXPECT_EQ(seen.instances_max, profile.instances_max);
      EXPECT_EQ(seen.sms, profile_sms(model, *id));
      EXPECT_GT(seen.memory_mib, 0);
      EXPECT_EQ(seen.memory_mib, profile.memory_mib.value_or(seen.memory_mib));
      EXPECT_EQ(seen.length, profile.length);
      EXPECT_EQ(seen.starts, profile.starts);
      const auto number = nvml_abi::find_number(nvml_abi::gpu_instance_profiles(), profile.nvml_enum);
      EXPECT_TRUE(!last || *last < number);  // the library's order
      last = number;
    }
  }
};

TEST_F(GpusOfNvml, FactsOfEveryModelAreThoseOfTheCatalogue) {
  for (const GpuModel& model : mig::gpu_models()) {
    SCOPED_TRACE(model.name);
    SimulatedMachine machine({model.name});
    const auto library = open();
    ASSERT_NE(library, nullptr);
    const GpuFacts facts = facts_of_one(*library);
    EXPECT_EQ(facts.uuid, machine.uuid(0));
    EXPECT_EQ(facts.pci_bus_id, "00000000:07:00.0");
    expect_catalogue(facts, model);
  }
}

TEST_F(GpusOfNvml, ListsTheGpusInTheLibrarysOrder) {
  SimulatedMachine machine({"A100-80GB", "T4", "A100-80GB"});
  const auto library = open();
  const auto listed = library->list();
  ASSERT_TRUE(listed.has_value());
  ASSERT_THAT(*listed, SizeIs(3));
  for (std::uint32_t gpu = 0; gpu < 3; ++gpu) {
    EXPECT_EQ((*listed)[gpu].uuid, machine.uuid(gpu));
    EXPECT_EQ((*listed)[gpu].facts->uuid, machine.uuid(gpu));
  }
  EXPECT_FALSE((*listed)[1].facts->is_mig_capable);
}

TEST_F(GpusOfNvml, ReadsWhatStands) {
  for (const auto& [model, profile, lengths] :
       {std::tuple<const char*, const char*, std::vector<int>>{"A100-80GB", "3g.40gb", {4, 4}},
        {"H200", "3g.71gb", {4, 4}},
        {"A30", "2g.12gb", {2, 2}},
        {"RTX", "2g.48gb", {6, 6}}}) {
    SCOPED_TRACE(model);
    SimulatedMachine machine({model});
    const auto library = open();
    EXPECT_THAT(read(*library, machine.uuid(0)).instances, IsEmpty());
    machine.create(0, profile);
    machine.create(0, profile);
    const GpuReading reading = read(*library, machine.uuid(0));
    EXPECT_TRUE(reading.is_mig_on);
    EXPECT_TRUE(reading.is_mig_pending_on);
    EXPECT_EQ(reading.recovery_action, "none");
    ASSERT_THAT(reading.instances, SizeIs(2));
    EXPECT_EQ((std::vector{reading.instances[0].length, reading.instances[1].length}), lengths);
    EXPECT_EQ(reading.instances[0].start, 0);
    EXPECT_EQ(reading.instances[1].start, lengths[0]);
    for (const GpuInstanceSeen& instance : reading.instances) {
      ASSERT_THAT(instance.compute_instances, SizeIs(1));
      EXPECT_THAT(instance.compute_instances[0].uuid, StartsWith("MIG-"));
      EXPECT_EQ(instance.compute_instances[0].start, 0);
    }
    EXPECT_NE(reading.instances[0].compute_instances[0].uuid, reading.instances[1].compute_instances[0].uuid);
  }
}

TEST_F(GpusOfNvml, ReadsSeveralComputeInstancesOfOneGpuInstance) {
  SimulatedMachine machine({"A100-80GB"});
  const auto library = open();
  machine.change(0, [](GpuRecord& gpu) {
    const int id = *nvml_sim::create_gpu_instance(gpu, 9, nvml_sim::Interval{4, 4}, kRoot);
    ASSERT_TRUE(nvml_sim::create_compute_instance(gpu, id, 0, nvml_sim::Interval{2, 1}, kRoot));
    ASSERT_TRUE(nvml_sim::create_compute_instance(gpu, id, 1, nvml_sim::Interval{0, 2}, kRoot));
  });
  const GpuReading reading = read(*library, machine.uuid(0));
  ASSERT_THAT(reading.instances, SizeIs(1));
  EXPECT_EQ(reading.instances[0].profile_id, 9U);
  EXPECT_EQ(reading.instances[0].start, 4);
  std::vector<std::tuple<std::uint32_t, int, int>> computes;
  for (const ComputeInstanceSeen& seen : reading.instances[0].compute_instances) {
    computes.emplace_back(seen.id, seen.start, seen.slices);
  }
  EXPECT_THAT(computes, ElementsAre(std::tuple(0U, 2, 1), std::tuple(1U, 0, 2)));
}

TEST_F(GpusOfNvml, ReadsAGpuInstanceWithoutComputeInstances) {
  SimulatedMachine machine({"A100-80GB"});
  const auto library = open();
  machine.change(0, [](GpuRecord& gpu) { ASSERT_TRUE(nvml_sim::create_gpu_instance(gpu, 19, {}, kRoot)); });
  const GpuReading reading = read(*library, machine.uuid(0));
  ASSERT_THAT(reading.instances, SizeIs(1));
  EXPECT_THAT(reading.instances[0].compute_instances, IsEmpty());
}

TEST_F(GpusOfNvml, ReadsProcessesWithTheirInstances) {
  SimulatedMachine machine({"A100-80GB", "T4"});
  const auto library = open();
  const auto instance = static_cast<std::uint32_t>(machine.create(0, "2g.20gb"));
  const auto self = static_cast<std::uint32_t>(::getpid());
  machine.change(0, [&](GpuRecord& gpu) { ASSERT_TRUE(nvml_sim::add_process(gpu, {self, instance, 0, 500})); });
  machine.change(1, [&](GpuRecord& gpu) {
    ASSERT_TRUE(nvml_sim::add_process(gpu, {.pid = self, .memory_mib = 77}));
    ASSERT_TRUE(nvml_sim::add_process(gpu, {.pid = 0x7FFFFFFF, .memory_mib = 78}));
  });
  const GpuReading cut = read(*library, machine.uuid(0));
  ASSERT_THAT(cut.processes, SizeIs(1));
  EXPECT_THAT(cut.processes[0].name, ::testing::HasSubstr("berth_edges_nvml_test"));
  EXPECT_EQ(cut.processes[0], (GpuProcessSeen{self, cut.processes[0].name, 500, instance, 0, cut.processes[0].user}));
  EXPECT_NE(cut.processes[0].user, "");
  const GpuReading whole = read(*library, machine.uuid(1));
  EXPECT_FALSE(whole.is_mig_on);
  EXPECT_THAT(whole.processes,
              ElementsAre(GpuProcessSeen{self, cut.processes[0].name, 77, {}, {}, cut.processes[0].user},
                          GpuProcessSeen{0x7FFFFFFF, "", 78, {}, {}}));
}

TEST_F(GpusOfNvml, ReadsThePendingMode) {
  SimulatedMachine machine({"A100-80GB"});
  const auto library = open();
  machine.change(0, [](GpuRecord& gpu) { ASSERT_TRUE(nvml_sim::set_mig_mode(gpu, false, kRoot)); });
  GpuReading reading = read(*library, machine.uuid(0));
  EXPECT_TRUE(reading.is_mig_on);
  EXPECT_FALSE(reading.is_mig_pending_on);
  machine.change(0, [](GpuRecord& gpu) { nvml_sim::reset_gpu(gpu); });
  EXPECT_FALSE(read(*library, machine.uuid(0)).is_mig_on);
}

TEST_F(GpusOfNvml, ALostGpuIsACodeAndTheOthersGoOn) {
  SimulatedMachine machine({"A100-80GB", "A100-80GB"});
  const auto library = open();
  ASSERT_TRUE(library->list().has_value());
  machine.change(1, [](GpuRecord& gpu) { nvml_sim::lose(gpu); });
  EXPECT_TRUE(failure_of(library->read(machine.uuid(1))).is_gpu_lost);
  EXPECT_TRUE(failure_of(library->wait(machine.uuid(1), 10)).is_gpu_lost);
  EXPECT_TRUE(library->read(machine.uuid(0)).has_value());
  const auto listed = library->list();
  ASSERT_THAT(*listed, SizeIs(2));
  EXPECT_TRUE((*listed)[0].facts.has_value());
  EXPECT_TRUE(failure_of((*listed)[1].facts).is_gpu_lost);
  EXPECT_EQ((*listed)[1].uuid, machine.uuid(1));  // from the list before
  EXPECT_EQ(open()->list()->at(1).uuid, "");      // here nothing was known before
}

TEST_F(GpusOfNvml, ALostGpuEndsAWaitThatHadEvents) {
  SimulatedMachine machine({"A100-80GB"});
  const auto library = open();
  EXPECT_FALSE(library->wait(machine.uuid(0), 0)->has_value());
  machine.change(0, [](GpuRecord& gpu) { nvml_sim::lose(gpu); });
  EXPECT_TRUE(failure_of(library->wait(machine.uuid(0), 10)).is_gpu_lost);
}

TEST_F(GpusOfNvml, AnUnknownGpuIsNotFound) {
  SimulatedMachine machine({"A100-80GB"});
  const auto library = open();
  for (const char* uuid : {"GPU-00000000-0000-0000-0000-000000000000", "", "nonsense"}) {
    EXPECT_EQ(failure_of(library->read(uuid)),
              (GpuCallFailure{"nvmlDeviceGetHandleByUUID", 6, "NVML_ERROR_NOT_FOUND", false, false}));
    EXPECT_FALSE(library->wait(uuid, 1'000).has_value());
  }
}

TEST_F(GpusOfNvml, ResetsAndRebootsLeaveTheLibraryOfUse) {
  SimulatedMachine machine({"H200"});
  const auto library = open();
  machine.create(0, "1g.18gb");
  EXPECT_THAT(read(*library, machine.uuid(0)).instances, SizeIs(1));
  machine.change(0, [](GpuRecord& gpu) { nvml_sim::reset_gpu(gpu); });
  EXPECT_THAT(read(*library, machine.uuid(0)).instances, IsEmpty());
  machine.create(0, "1g.18gb");
  EXPECT_THAT(read(*library, machine.uuid(0)).instances, SizeIs(1));
  // A running program cannot see a reboot, but this invalidates its handles.
  machine.file().change_all([](MachineRecord& record) { nvml_sim::reboot(record, "another", 0); });
  EXPECT_FALSE(read(*library, machine.uuid(0)).is_mig_on);  // as Hopper forgets it
}

TEST_F(GpusOfNvml, ACallThatFailsIsNamedWithItsCode) {
  SimulatedMachine machine({"A100-80GB"});
  const auto library = open();
  machine.create(0, "1g.10gb");
  for (const char* call : {"nvmlDeviceGetMigMode", "nvmlDeviceGetGpuInstances", "nvmlGpuInstanceGetInfo",
                           "nvmlGpuInstanceGetComputeInstances", "nvmlComputeInstanceGetInfo_v2", "nvmlDeviceGetUUID",
                           "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetFieldValues"}) {
    add_fault(machine, 0, call, {.error = static_cast<int>(Code::kUnknown), .times = 1});
    EXPECT_EQ(failure_of(library->read(machine.uuid(0))),
              (GpuCallFailure{call, 999, "NVML_ERROR_UNKNOWN", false, false}));
    EXPECT_TRUE(library->read(machine.uuid(0)).has_value());
  }
}

TEST_F(GpusOfNvml, MeasuresAGpuWithAndWithoutMigMode) {
  SimulatedMachine machine({"A100-80GB", "T4-16GB"});
  const auto library = open();
  const auto measure = [&](std::uint32_t gpu) {
    const auto measured = library->measure(machine.uuid(gpu));
    if (!measured) ADD_FAILURE() << measured.error().call << ": " << measured.error().code_name;
    return measured ? *measured : GpuMeasurement();
  };
  const GpuMeasurement idle = measure(1);
  EXPECT_EQ(idle.memory_total_mib, 15'360);
  EXPECT_EQ(idle.memory_used_mib, 0);
  EXPECT_EQ(idle.utilization_percent, 0);
  EXPECT_EQ(idle.power_milliwatts, 10'000);
  EXPECT_EQ(idle.power_limit_milliwatts, 70'000);
  machine.change(1, [](GpuRecord& gpu) { ASSERT_TRUE(nvml_sim::add_process(gpu, {.pid = 7, .memory_mib = 900})); });
  const GpuMeasurement busy = measure(1);
  EXPECT_EQ(busy.memory_used_mib, 900);
  EXPECT_EQ(busy.utilization_percent, 24);
  EXPECT_GT(busy.temperature_celsius, idle.temperature_celsius);
  EXPECT_EQ(busy.sm_clock_mhz, 1'590);
  const GpuMeasurement partitioned = measure(0);
  EXPECT_EQ(partitioned.utilization_percent, std::nullopt) << "NVML has none in MIG mode";
  EXPECT_EQ(partitioned.memory_total_mib, 81'920);
  machine.change(0, [](GpuRecord& gpu) { nvml_sim::lose(gpu); });
  EXPECT_TRUE(failure_of(library->measure(machine.uuid(0))).is_gpu_lost);
  EXPECT_EQ(failure_of(library->measure("GPU-none")).code_name, "NVML_ERROR_NOT_FOUND");
}

TEST_F(GpusOfNvml, AnInstanceThatVanishesMeanwhileIsAskedForAgain) {
  SimulatedMachine machine({"A100-80GB"});
  const auto library = open();
  machine.create(0, "1g.10gb");
  for (const char* call : {"nvmlGpuInstanceGetInfo", "nvmlGpuInstanceGetComputeInstances",
                           "nvmlComputeInstanceGetInfo_v2", "nvmlDeviceGetComputeRunningProcesses_v3"}) {
    SCOPED_TRACE(call);
    add_fault(machine, 0, call, {.error = static_cast<int>(Code::kInvalidArgument), .times = 2});
    EXPECT_THAT(read(*library, machine.uuid(0)).instances, SizeIs(1));
    add_fault(machine, 0, call, {.error = static_cast<int>(Code::kNotFound), .times = 1'000});
    EXPECT_EQ(failure_of(library->read(machine.uuid(0))).call, call);  // not forever
    machine.change(0, [](GpuRecord& gpu) { nvml_sim::clear_faults(gpu); });
  }
}

/// Another program creates and destroys instances all the time: every reading shows a state that existed.
TEST_F(GpusOfNvml, ReadingsDuringChangesAreNeverMixed) {
  SimulatedMachine machine({"A100-80GB"});
  const auto library = open();
  std::atomic<bool> is_over = false;
  std::atomic<int> rounds = 0;
  std::thread other([&] {
    for (int round = 0; !is_over; round = ++rounds) {
      machine.change(0, [](GpuRecord& gpu) { nvml_sim::reset_gpu(gpu); });
      for (int count = round % 3; count >= 0; --count) machine.create(0, round % 2 == 0 ? "2g.20gb" : "1g.10gb");
    }
  });
  int complete = 0;
  for (int readings = 0; readings < 200 || rounds < 200; ++readings) {
    const auto reading = library->read(machine.uuid(0));
    if (!reading) continue;  // disturbed each time
    ++complete;
    EXPECT_FALSE(detail::has_overlap(*reading));
    EXPECT_LE(reading->instances.size(), 3U);
    for (const GpuInstanceSeen& instance : reading->instances) EXPECT_LE(instance.compute_instances.size(), 1U);
  }
  is_over = true;
  other.join();
  EXPECT_GT(complete, 0);
  machine.change(0, [](GpuRecord& gpu) { nvml_sim::reset_gpu(gpu); });
  machine.create(0, "2g.20gb");
  const GpuReading reading = read(*library, machine.uuid(0));
  ASSERT_THAT(reading.instances, SizeIs(1));
  EXPECT_THAT(reading.instances[0].compute_instances, SizeIs(1));  // no wrong profiles were cached
}

TEST_F(GpusOfNvml, AHangingCallHoldsUpNoOtherGpu) {
  SimulatedMachine machine({"A100-80GB", "A100-80GB"});
  const auto library = open();
  ASSERT_TRUE(library->list().has_value());
  add_fault(machine, 0, "nvmlDeviceGetMigMode", {.times = 1, .delay_ms = 600'000});
  std::atomic<bool> has_returned = false;
  std::thread hanging([&] {
    static_cast<void>(library->read(machine.uuid(0)));
    has_returned = true;
  });
  const auto is_hanging = [&] {
    bool is_taken = false;
    machine.change(0, [&](GpuRecord& gpu) { is_taken = !nvml_sim::has_faults(gpu); });
    return is_taken;
  };
  while (!is_hanging()) std::this_thread::yield();
  EXPECT_TRUE(library->read(machine.uuid(1)).has_value());
  EXPECT_TRUE(library->wait(machine.uuid(1), 10).has_value());
  EXPECT_TRUE(library->wait(machine.uuid(0), 10).has_value());  // another question about the same GPU
  EXPECT_FALSE(has_returned);
  machine.change(0, [](GpuRecord& gpu) { nvml_sim::clear_faults(gpu); });
  hanging.join();
}

/// Queries to the library as a whole during a reading, such as names of processes, do not concern the slow GPU.
TEST_F(GpusOfNvml, AGpuWithSlowReadingsHoldsUpNoOther) {
  SimulatedMachine machine({"A100-80GB", "T4"});
  const auto library = open();
  ASSERT_TRUE(library->list().has_value());
  machine.change(1, [&](GpuRecord& gpu) { ASSERT_TRUE(nvml_sim::add_process(gpu, {.pid = 7, .memory_mib = 77})); });
  add_fault(machine, 0, "read", {.error = static_cast<int>(Code::kUnknown), .times = 1'000, .delay_ms = 1});
  EXPECT_FALSE(library->wait(machine.uuid(1), 10)->has_value());
  EXPECT_THAT(read(*library, machine.uuid(1)).processes, SizeIs(1));
  machine.change(0, [](GpuRecord& gpu) { EXPECT_EQ(gpu.faults[0].times, 1'000); });
  EXPECT_FALSE(library->read(machine.uuid(0)).has_value());
}

TEST_F(GpusOfNvml, EventsOfOtherProcessesEndAWait) {
  SimulatedMachine machine({"A100-80GB", "A100-80GB"});
  const auto library = open();
  EXPECT_FALSE(library->wait(machine.uuid(0), 0)->has_value());
  EXPECT_FALSE(library->wait(machine.uuid(1), 0)->has_value());
  const auto post_from_a_child = [&](const nvml_sim::EventRecord& event) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child > 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until the parent waits
    auto file = SimStateFile::open(machine.file().path());
    if (file) (*file)->change(event.gpu, [&](MachineRecord& record) { nvml_sim::post(record.events, event); });
    ::_exit(0);
  };
  const auto wait = [&](std::uint32_t gpu) {
    const auto begun = std::chrono::steady_clock::now();
    const auto notice = library->wait(machine.uuid(gpu), 30'000);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
    EXPECT_GT(::waitpid(-1, nullptr, 0), 0);
    return notice.value();
  };
  post_from_a_child({.type = nvml_abi::kEventMigConfig, .gpu = 0});
  EXPECT_EQ(wait(0), (GpuNotice{GpuNotice::Kind::kMigChange, 0}));
  post_from_a_child({.type = nvml_abi::kEventXid, .number = 63, .gpu = 1});
  EXPECT_EQ(wait(1), (GpuNotice{GpuNotice::Kind::kXid, 63}));
  EXPECT_FALSE(library->wait(machine.uuid(0), 0)->has_value());  // the other GPU's event does not appear here
}

TEST_F(GpusOfNvml, EventsOfBeforeTheFirstWaitAreOver) {
  SimulatedMachine machine({"A100-80GB"});
  const auto library = open();
  machine.file().change(0, [](MachineRecord& record) { nvml_sim::raise_xid(record, 0, 63); });
  EXPECT_FALSE(library->wait(machine.uuid(0), 0)->has_value());
  machine.file().change(0, [](MachineRecord& record) { nvml_sim::raise_xid(record, 0, 64); });
  EXPECT_EQ(library->wait(machine.uuid(0), -5)->value().xid, 64U);
  EXPECT_EQ(read(*library, machine.uuid(0)).recovery_action, "gpu_reset");
}

TEST_F(GpusOfNvml, OldDriversShowLess) {
  SimulatedMachine machine({"A100-80GB"});
  const auto library = open(testing::kOldLibrary);
  ASSERT_NE(library, nullptr);
  const auto instance = static_cast<std::uint32_t>(machine.create(0, "2g.20gb"));
  machine.change(0, [&](GpuRecord& gpu) { ASSERT_TRUE(nvml_sim::add_process(gpu, {7, instance, 0, 500})); });
  GpuFacts facts = facts_of_one(*library);
  for (const GpuProfileFacts& profile : facts.profiles) {
    EXPECT_EQ(profile.name, "");
    EXPECT_THAT(profile.starts, ::testing::Not(IsEmpty()));
  }
  EXPECT_THAT(facts.profiles, SizeIs(mig::find_gpu_model("A100-80GB")->profiles.size()));
  const GpuReading reading = read(*library, machine.uuid(0));
  EXPECT_EQ(reading.recovery_action, "none");
  ASSERT_THAT(reading.instances, SizeIs(1));
  ASSERT_THAT(reading.processes, SizeIs(1));
  EXPECT_EQ(reading.processes[0],
            (GpuProcessSeen{7, "", 500, instance, 0, reading.processes[0].user}));  // by its MIG device
  machine.file().change(0, [](MachineRecord& record) { nvml_sim::raise_xid(record, 0, 63); });
  EXPECT_FALSE(library->wait(machine.uuid(0), 1)->has_value());  // it notices nothing
}

TEST_F(GpusOfNvml, SixteenGpusOfSevenSlicesAreReadWhole) {
  SimulatedMachine machine(std::vector<std::string_view>(16, "A100-80GB"));
  const auto library = open();
  ASSERT_TRUE(library->list().has_value());
  for (std::uint32_t gpu = 0; gpu < 16; ++gpu) {
    for (int slice = 0; slice < 7; ++slice) machine.create(gpu, "1g.10gb");
  }
  for (std::uint32_t gpu = 0; gpu < 16; ++gpu) {
    const GpuReading reading = read(*library, machine.uuid(gpu));
    ASSERT_THAT(reading.instances, SizeIs(7));
    for (int slice = 0; slice < 7; ++slice) {
      EXPECT_EQ(reading.instances[static_cast<std::size_t>(slice)].start, slice);
      EXPECT_THAT(reading.instances[static_cast<std::size_t>(slice)].compute_instances, SizeIs(1));
    }
  }
}

TEST_F(GpusOfNvml, ChangesNothing) {
  SimulatedMachine machine({"A100-80GB"});
  const auto library = open();
  machine.create(0, "1g.10gb");
  ASSERT_TRUE(library->list().has_value());
  ASSERT_TRUE(library->read(machine.uuid(0)).has_value());
  ASSERT_TRUE(library->wait(machine.uuid(0), 1).has_value());
  machine.change(0, [](GpuRecord& gpu) { EXPECT_EQ(gpu.changing_calls, 0U); });
}

}  // namespace
}  // namespace berth::edges
