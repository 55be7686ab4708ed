// Processes that change shared GPUs at random and are killed at random. After each death the state must be one that is
// possible without it: nothing overlaps, every change is present completely or not at all, and no acknowledged change
// is missing.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/event_ring.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/mode.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/reset.h"
#include "gpu/nvml_sim_state/state_file.h"
#include "gpu/nvml_sim_state/testing/child.h"
#include "gpu/nvml_sim_state/testing/intact.h"
#include "gpu/nvml_sim_state/testing/machines.h"

namespace berth::edges {
namespace {

using nvml_sim::Caller;
using nvml_sim::EventRecord;
using nvml_sim::GpuRecord;
using nvml_sim::kComputeInstancesMax;
using nvml_sim::kEventsMax;
using nvml_sim::kGpuInstancesMax;
using nvml_sim::MachineRecord;
using nvml_sim::MigDevice;
using nvml_sim::ProcessRecord;
using testing::Child;
using testing::copy_of;
using testing::create_state;
using testing::open_state;
using testing::Scratch;

constexpr std::uint32_t kGpus = 3;
constexpr Caller kRoot = {.may_change = true};
std::vector<std::string_view> models() { return {"A100-40GB", "H100-80GB-SXM5", "A30"}; }

/// The last change of each GPU that came back to its caller; in memory that the processes share.
class Acknowledged {
 public:
  Acknowledged() {
    void* const mapped = ::mmap(nullptr, sizeof(Changes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ENSURE(mapped != MAP_FAILED);
    changes_ = static_cast<Changes*>(mapped);  // zeros
  }
  Acknowledged(const Acknowledged&) = delete;
  Acknowledged& operator=(const Acknowledged&) = delete;
  ~Acknowledged() { ::munmap(changes_, sizeof(Changes)); }

  void raise(std::uint32_t gpu, std::uint64_t change) const {
    std::atomic<std::uint64_t>& last = (*changes_)[gpu];
    std::uint64_t before = last.load();
    while (before < change && !last.compare_exchange_weak(before, change)) {
    }
  }
  [[nodiscard]] std::uint64_t of(std::uint32_t gpu) const { return (*changes_)[gpu].load(); }
  [[nodiscard]] std::uint64_t count() const { return of(0) + of(1) + of(2); }

 private:
  using Changes = std::array<std::atomic<std::uint64_t>, kGpus>;
  Changes* changes_ = nullptr;
};

std::uint32_t any_profile(const GpuRecord& gpu, Rng& rng) {
  const std::vector<MigProfile>& profiles = nvml_sim::model_of(gpu).profiles;
  return static_cast<std::uint32_t>(profiles[rng.below(profiles.size())].device_profile_id);
}

void create_any(GpuRecord& gpu, Rng& rng) {
  static_cast<void>(nvml_sim::create_gpu_instance(gpu, any_profile(gpu, rng), std::nullopt, kRoot));
  const auto instance = static_cast<int>(rng.below(kGpuInstancesMax));
  if (gpu.gpu_instances[instance].is_there == 0) return;
  const auto profile = static_cast<std::uint32_t>(rng.below(8));
  static_cast<void>(nvml_sim::create_compute_instance(gpu, instance, profile, std::nullopt, kRoot));
}

void destroy_any(GpuRecord& gpu, Rng& rng) {
  const auto instance = static_cast<int>(rng.below(kGpuInstancesMax));
  const auto compute = static_cast<int>(rng.below(kComputeInstancesMax));
  if (rng.below(8) == 0) gpu.processes[0] = ProcessRecord{};
  static_cast<void>(nvml_sim::destroy_compute_instance(gpu, instance, compute, kRoot));
  static_cast<void>(nvml_sim::destroy_gpu_instance(gpu, instance, kRoot));
}

void move_processes(GpuRecord& gpu, Rng& rng) {
  const std::vector<MigDevice> devices = nvml_sim::mig_devices(gpu);
  const auto pid = static_cast<std::uint32_t>(1 + rng.below(20));
  static_cast<void>(nvml_sim::remove_process(gpu, pid));
  if (devices.empty()) return;
  const MigDevice& device = devices[rng.below(devices.size())];
  static_cast<void>(nvml_sim::add_process(gpu, {.pid = pid,
                                                .gpu_instance = static_cast<std::uint32_t>(device.gpu_instance),
                                                .compute_instance = static_cast<std::uint32_t>(device.compute_instance),
                                                .memory_mib = 100}));
}

/// One change of a GPU. `changing_calls` counts it first, an event says its number, and `energy_mj` counts it last: if
/// these disagree, a partial change is left.
void change_at_random(MachineRecord& machine, std::uint32_t index, Rng& rng) {
  GpuRecord& gpu = machine.gpus[index];
  const std::uint64_t change = ++gpu.changing_calls;
  post(machine.events, {.type = 1, .number = change, .gpu = index});
  const std::uint64_t kind = rng.below(20);
  if (kind < 8) create_any(gpu, rng);
  if (kind >= 6 && kind < 14) destroy_any(gpu, rng);
  if (kind >= 14 && kind < 18) move_processes(gpu, rng);
  if (kind == 18) static_cast<void>(nvml_sim::set_mig_mode(gpu, rng.below(4) != 0, kRoot));
  if (kind == 19 && rng.below(10) == 0) nvml_sim::reset_gpu(gpu);
  gpu.counters.energy_mj = change;
}

/// The work of a process until it is killed.
int change_for_ever(const std::string& path, const Acknowledged& acknowledged, std::uint64_t seed) {
  const auto file = open_state(path);
  Rng rng(seed);
  for (;;) {
    const auto gpu = static_cast<std::uint32_t>(rng.below(kGpus));
    std::uint64_t change = 0;
    const auto work = [&](MachineRecord& machine) {
      change_at_random(machine, gpu, rng);
      change = machine.gpus[gpu].changing_calls;
    };
    if (rng.below(4) == 0) {
      const auto lock = file->lock_changes(gpu);
      file->change(gpu, work);
    } else if (rng.below(50) == 0) {
      file->change_all(work);
    } else {
      file->change(gpu, work);
    }
    acknowledged.raise(gpu, change);
  }
}

/// The numbers of a GPU's events in the ring, oldest first.
std::vector<std::uint64_t> events_of(const MachineRecord& machine, std::uint32_t gpu) {
  std::vector<std::uint64_t> numbers;
  const auto is_of_gpu = [&](const EventRecord& event, std::uint64_t) { return event.type != 0 && event.gpu == gpu; };
  for (auto next = next_event(machine.events, 0, is_of_gpu); next.event;
       next = next_event(machine.events, next.position, is_of_gpu)) {
    numbers.push_back(next.event->number);
  }
  return numbers;
}

std::string fault_of_changes(const MachineRecord& machine, std::uint32_t index) {
  const GpuRecord& gpu = machine.gpus[index];
  if (gpu.counters.energy_mj != gpu.changing_calls) return "half a change";
  const std::vector<std::uint64_t> events = events_of(machine, index);
  if (gpu.changing_calls > 0 && (events.empty() || events.back() != gpu.changing_calls)) return "a missing event";
  for (std::size_t event = 1; event < events.size(); ++event) {
    if (events[event] != events[event - 1] + 1) return "an event too many or too few";
  }
  return {};
}

/// The first fault of a machine, compared with its former state; nothing: it is intact.
std::string fault_of(const MachineRecord& machine, const MachineRecord& before) {
  if (machine.gpu_count != kGpus) return "another count of GPUs";
  std::uint64_t changes = 0;
  for (std::uint32_t index = 0; index < kGpus; ++index) {
    const GpuRecord& gpu = machine.gpus[index];
    const GpuRecord& gpu_before = before.gpus[index];
    if (std::string_view(gpu.uuid) != gpu_before.uuid) return "another UUID";
    if (gpu.generations < gpu_before.generations || gpu.changing_calls < gpu_before.changing_calls ||
        gpu.resets < gpu_before.resets) {
      return "a count that fell";
    }
    for (const std::string& fault : {testing::fault_of(gpu), fault_of_changes(machine, index)}) {
      if (!fault.empty()) return fault + " on GPU " + std::to_string(index);
    }
    changes += gpu.changing_calls;
  }
  return machine.events.posted == changes ? std::string() : "events and changes differ";
}

std::uint32_t changing_mark(const std::string& path) {
  constexpr std::streamoff kMarkAt = 24;
  std::ifstream file(path, std::ios::binary);
  file.seekg(kMarkAt);
  std::uint32_t mark = 0;
  file.read(reinterpret_cast<char*>(&mark), sizeof(mark));
  return mark;
}

TEST(StateKill, ProcessesThatAreKilledAtRandomLeaveAnIntactState) {
  constexpr int kProcesses = 3;
  constexpr std::uint64_t kRestMicrosMax = 4'000;
  const int kills = berth::testing::by_build(300, 60);
  const Scratch scratch;
  create_state(scratch.state(), models());
  const Acknowledged acknowledged;
  Rng rng(*berth::testing::case_seeds(1).begin());
  const auto start = [&] {
    const std::uint64_t seed = rng();
    return Child([&, seed] { return change_for_ever(scratch.state(), acknowledged, seed); });
  };
  std::vector<Child> children;
  children.reserve(kProcesses);
  for (int process = 0; process < kProcesses; ++process) children.push_back(start());
  auto before = copy_of(*open_state(scratch.state()));
  for (int kill = 0; kill < kills; ++kill) {
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(kRestMicrosMax)));
    Child& victim = children[rng.below(kProcesses)];
    victim.kill();
    std::array<std::uint64_t, kGpus> acknowledged_before{};
    for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) acknowledged_before[gpu] = acknowledged.of(gpu);
    auto now = copy_of(*open_state(scratch.state()));
    ASSERT_EQ(fault_of(*now, *before), "") << "after kill " << kill;
    for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) ASSERT_GE(now->gpus[gpu].changing_calls, acknowledged_before[gpu]);
    before = std::move(now);
    victim = start();
  }
  children.clear();
  const auto last = copy_of(*open_state(scratch.state()));
  EXPECT_EQ(fault_of(*last, *before), "");
  EXPECT_EQ(changing_mark(scratch.state()), 0U);
  EXPECT_GT(last->events.posted, kEventsMax) << "hardly anything was changed";
}

TEST(StateKill, DeathsInTheMidstOfAChangeLeaveNothingOfIt) {
  constexpr int kKillsMax = 2'000;
  const int halves_wanted = berth::testing::by_build(10, 5);
  const Scratch scratch;
  create_state(scratch.state(), models());
  const Acknowledged acknowledged;
  Rng rng(*berth::testing::case_seeds(1).begin() + 1000);
  auto before = copy_of(*open_state(scratch.state()));
  int halves = 0;
  for (int kill = 0; kill < kKillsMax && halves < halves_wanted; ++kill) {
    const std::uint64_t begun = acknowledged.count();
    const std::uint64_t seed = rng();
    Child child([&, seed] { return change_for_ever(scratch.state(), acknowledged, seed); });
    while (acknowledged.count() == begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(500)));
    child.kill();
    if (changing_mark(scratch.state()) != 0) ++halves;
    auto now = copy_of(*open_state(scratch.state()));
    ASSERT_EQ(fault_of(*now, *before), "") << "after kill " << kill;
    ASSERT_EQ(changing_mark(scratch.state()), 0U);
    before = std::move(now);
  }
  EXPECT_EQ(halves, halves_wanted);
}

}  // namespace
}  // namespace berth::edges
