#include "gpu/device/testing/simulated_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "domain/mig/board.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/mode.h"
#include "gpu/nvml_sim/processes.h"

namespace berth::device::testing {

using nvml_abi::Code;
using nvml_sim::Answer;
using nvml_sim::Caller;
using nvml_sim::GpuInstanceRecord;
using nvml_sim::GpuRecord;
using nvml_sim::ProcessRecord;

namespace {

constexpr Caller kRoot{.may_change = true};

GpuCallFailure failure_of(const char* name, Code code) {
  return {.call = name,
          .code = static_cast<int>(code),
          .code_name = std::string(nvml_abi::name_of(code)),
          .is_gpu_lost = code == Code::kGpuIsLost,
          .is_in_use = code == Code::kInUse};
}

/// The answer of a function that returns only a code.
Answer<void> answer_of(Code code) {
  if (code != Code::kSuccess) return nvml_sim::refuse(code);
  return {};
}

bool is_there(const GpuRecord& gpu, std::uint32_t gpu_instance) {
  return gpu_instance < nvml_sim::kGpuInstancesMax && gpu.gpu_instances[gpu_instance].is_there != 0;
}

int slices_of(const GpuRecord& gpu, const GpuInstanceRecord& instance) {
  return nvml_sim::model_of(gpu).profiles[instance.profile].compute_slices;
}

ComputeInstanceSeen seen_of(const GpuRecord& gpu, int gpu_instance, int id) {
  const GpuInstanceRecord& instance = gpu.gpu_instances[gpu_instance];
  const nvml_sim::Interval place = nvml_sim::compute_place_of(gpu, gpu_instance, id);
  return {.id = static_cast<std::uint32_t>(id),
          .start = place.start,
          .slices = place.length,
          .uuid = nvml_sim::mig_uuid(gpu, {gpu_instance, id}),
          .is_whole = instance.compute_instances[id].slices == slices_of(gpu, instance),
          .memory_mib = instance.memory_mib};
}

GpuInstanceSeen seen_of(const GpuRecord& gpu, int id) {
  const GpuInstanceRecord& instance = gpu.gpu_instances[id];
  const MigProfile& profile = nvml_sim::model_of(gpu).profiles[instance.profile];
  GpuInstanceSeen seen{.id = static_cast<std::uint32_t>(id),
                       .profile_id = static_cast<std::uint32_t>(profile.device_profile_id),
                       .start = instance.start,
                       .length = profile.length,
                       .compute_instances = {}};
  for (int compute = 0; compute < nvml_sim::kComputeInstancesMax; ++compute) {
    if (instance.compute_instances[compute].is_there != 0) seen.compute_instances.push_back(seen_of(gpu, id, compute));
  }
  return seen;
}

std::optional<std::uint32_t> instance_id(std::uint32_t id) {
  return id == nvml_sim::kNoInstance ? std::nullopt : std::optional(id);
}

GpuProcessSeen seen_of(const ProcessRecord& process) {
  return {.pid = process.pid,
          .name = fmt::format("process-{}", process.pid),
          .memory_mib = process.memory_mib,
          .gpu_instance = instance_id(process.gpu_instance),
          .compute_instance = instance_id(process.compute_instance)};
}

GpuFacts facts_of(const GpuRecord& gpu) {
  const GpuModel& model = nvml_sim::model_of(gpu);
  const mig::Board& board = mig::board_of(model);
  GpuFacts facts{.uuid = gpu.uuid,
                 .name = board.name,
                 .pci_bus_id = gpu.bus_id,
                 .pci_device_id = board.pci_device_id,
                 .memory_mib = board.memory_mib,
                 .is_mig_capable = model.is_mig_capable(),
                 .profiles = {}};
  for (std::size_t index = 0; index < model.profiles.size(); ++index) {
    const ProfileId id{static_cast<std::uint16_t>(index)};
    const MigProfile& profile = model.profiles[index];
    facts.profiles.push_back({.id = static_cast<std::uint32_t>(profile.device_profile_id),
                              .name = profile.name,
                              .compute_slices = profile.compute_slices,
                              .instances_max = profile.instances_max,
                              .sms = profile_sms(model, id),
                              .memory_mib = nvml_sim::memory_mib_of(model, id),
                              .length = profile.length,
                              .starts = profile.starts});
  }
  return facts;
}

}  // namespace

SimulatedGpu::SimulatedGpu(const GpuRecord& record)
    : record_(record), facts_{.path = "simulated", .library_version = "0", .driver_version = "0"} {}

void SimulatedGpu::script(std::vector<Trouble> troubles) {
  troubles_ = std::move(troubles);
  calls_ = 0;
  is_dead_ = false;
}

bool SimulatedGpu::is_ours(std::uint32_t gpu_instance) const {
  return is_there(record_, gpu_instance) && ours_.contains(record_.gpu_instances[gpu_instance].generation);
}

template <class T>
GpuAnswer<T> SimulatedGpu::call(const std::string& uuid, const char* name, const std::function<Answer<T>()>& work) {
  const int number = calls_++;
  if (is_dead_) return tl::unexpected(failure_of(name, Code::kGpuIsLost));
  if (uuid != record_.uuid) return tl::unexpected(failure_of(name, Code::kNotFound));
  std::optional<Code> failure;
  for (const Trouble& trouble : troubles_) {
    if (trouble.at_call != number) continue;
    if (trouble.kind == Trouble::Kind::kEvent) trouble.event(record_);
    if (trouble.kind == Trouble::Kind::kLost) record_.is_lost = 1;
    if (trouble.kind == Trouble::Kind::kRefused) return tl::unexpected(failure_of(name, trouble.code));
    if (trouble.kind == Trouble::Kind::kDoneButFailed) failure = trouble.code;
    if (trouble.kind == Trouble::Kind::kDies) is_dead_ = true;
  }
  if (record_.is_lost != 0) return tl::unexpected(failure_of(name, Code::kGpuIsLost));
  Answer<T> answer = work();
  if (!answer) return tl::unexpected(failure_of(name, answer.error()));
  if (failure) return tl::unexpected(failure_of(name, *failure));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*answer);
  }
}

template <class T>
GpuAnswer<T> SimulatedGpu::change(const std::string& uuid, const char* name, const std::function<Answer<T>()>& work) {
  ++changing_calls_;
  now_us_ += change_us_;
  return call<T>(uuid, name, work);
}

GpuAnswer<std::vector<GpuLibrary::Listed>> SimulatedGpu::list() {
  return call<std::vector<Listed>>(record_.uuid, "nvmlDeviceGetHandleByIndex_v2",
                                   [&]() { return std::vector<Listed>{{record_.uuid, facts_of(record_)}}; });
}

GpuAnswer<GpuReading> SimulatedGpu::read(const std::string& uuid) {
  return call<GpuReading>(uuid, "nvmlDeviceGetMigMode", [&] { return read_record(); });
}

GpuAnswer<GpuMeasurement> SimulatedGpu::measure(const std::string&) { return GpuMeasurement{}; }

GpuAnswer<std::optional<GpuNotice>> SimulatedGpu::wait(const std::string& uuid, std::int64_t) {
  return call<std::optional<GpuNotice>>(uuid, "nvmlEventSetWait_v2", [] { return std::optional<GpuNotice>(); });
}

GpuReading SimulatedGpu::read_record() const {
  GpuReading reading;
  reading.is_mig_on = record_.is_mig_on != 0;
  reading.is_mig_pending_on = record_.is_mig_pending_on != 0;
  for (int id = 0; id < nvml_sim::kGpuInstancesMax; ++id) {
    if (record_.gpu_instances[id].is_there != 0) reading.instances.push_back(seen_of(record_, id));
  }
  std::ranges::sort(reading.instances, {}, &GpuInstanceSeen::start);
  if (hides_processes_) return reading;
  for (const ProcessRecord& process : nvml_sim::processes_of(record_)) reading.processes.push_back(seen_of(process));
  std::ranges::sort(reading.processes, {}, &GpuProcessSeen::pid);
  return reading;
}

GpuAnswer<std::uint32_t> SimulatedGpu::create_gpu_instance(const std::string& uuid, std::uint32_t profile_id, int start,
                                                           int length) {
  return change<std::uint32_t>(uuid, "nvmlDeviceCreateGpuInstanceWithPlacement", [&]() -> Answer<std::uint32_t> {
    const auto id = nvml_sim::create_gpu_instance(record_, profile_id, nvml_sim::Interval{start, length}, kRoot);
    if (!id) return nvml_sim::refuse(id.error());
    ours_.insert(record_.gpu_instances[*id].generation);
    return static_cast<std::uint32_t>(*id);
  });
}

GpuAnswer<std::uint32_t> SimulatedGpu::create_compute_instance(const std::string& uuid, std::uint32_t gpu_instance) {
  return change<std::uint32_t>(uuid, "nvmlGpuInstanceCreateComputeInstance", [&]() -> Answer<std::uint32_t> {
    if (!is_there(record_, gpu_instance)) return nvml_sim::refuse(Code::kNotFound);
    GpuInstanceRecord& instance = record_.gpu_instances[gpu_instance];
    const auto profile = nvml_sim::compute_profile_of_slices(slices_of(record_, instance));
    const auto id =
        nvml_sim::create_compute_instance(record_, static_cast<int>(gpu_instance), profile, std::nullopt, kRoot);
    if (!id) return nvml_sim::refuse(id.error());
    ours_.insert(instance.compute_instances[*id].generation);
    return static_cast<std::uint32_t>(*id);
  });
}

/// Removes processes, so that the instances they use can be destroyed.
void SimulatedGpu::evict(const std::function<bool(const ProcessRecord&)>& is_on_it) {
  if (!destroys_in_use_) return;
  for (const ProcessRecord& process : nvml_sim::processes_of(record_)) {
    if (!is_on_it(process)) continue;
    wrongs_.push_back(fmt::format("process {} lost its instance", process.pid));
    static_cast<void>(nvml_sim::remove_process(record_, process));
  }
}

GpuAnswer<void> SimulatedGpu::destroy_compute_instance(const std::string& uuid, std::uint32_t gpu_instance,
                                                       std::uint32_t id) {
  return change<void>(uuid, "nvmlComputeInstanceDestroy", [&]() -> Answer<void> {
    if (!is_there(record_, gpu_instance) || id >= nvml_sim::kComputeInstancesMax) return answer_of(Code::kNotFound);
    const std::uint32_t generation = record_.gpu_instances[gpu_instance].compute_instances[id].generation;
    evict([&](const ProcessRecord& on) { return on.gpu_instance == gpu_instance && on.compute_instance == id; });
    const Code code =
        nvml_sim::destroy_compute_instance(record_, static_cast<int>(gpu_instance), static_cast<int>(id), kRoot);
    if (code == Code::kSuccess && !ours_.contains(generation)) {
      wrongs_.push_back(fmt::format("compute instance {} of others in {} was destroyed", id, gpu_instance));
    }
    return answer_of(code);
  });
}

GpuAnswer<void> SimulatedGpu::destroy_gpu_instance(const std::string& uuid, std::uint32_t id) {
  return change<void>(uuid, "nvmlGpuInstanceDestroy", [&]() -> Answer<void> {
    if (!is_there(record_, id)) return answer_of(Code::kNotFound);
    const std::uint32_t generation = record_.gpu_instances[id].generation;
    evict([&](const ProcessRecord& on) { return on.gpu_instance == id; });
    const Code code = nvml_sim::destroy_gpu_instance(record_, static_cast<int>(id), kRoot);
    if (code == Code::kSuccess && !ours_.contains(generation)) {
      wrongs_.push_back(fmt::format("GPU instance {} of others was destroyed", id));
    }
    return answer_of(code);
  });
}

GpuAnswer<ModeChange> SimulatedGpu::set_mig_mode(const std::string& uuid, bool is_on) {
  return change<ModeChange>(uuid, "nvmlDeviceSetMigMode", [&]() -> Answer<ModeChange> {
    const Answer<Code> activation = nvml_sim::set_mig_mode(record_, is_on, kRoot);
    if (!activation) return nvml_sim::refuse(activation.error());
    if (*activation == Code::kSuccess) return ModeChange::kDone;
    return *activation == Code::kInUse ? ModeChange::kInUse : ModeChange::kNeedsReset;
  });
}

}  // namespace berth::device::testing
