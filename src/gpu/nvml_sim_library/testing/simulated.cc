#include "gpu/nvml_sim_library/testing/simulated.h"

#include <cstdlib>
#include <thread>

#include "base/core/ensure.h"
#include "gpu/nvml_sim/faults.h"
#include "gpu/nvml_sim_library/exports.h"

namespace berth::edges::testing {

using nvml_abi::Code;
using nvml_sim::FaultRecord;
using nvml_sim::GpuRecord;
using nvml_sim::MachineRecord;

Simulated::Simulated(const std::vector<std::string_view>& models) {
  create_state(path(), models);
  others_ = open_state(path());
  ::setenv("BERTH_NVML_SIM_STATE", path().c_str(), 1);
}

Simulated::~Simulated() {
  while (nvml_abi::nvmlShutdown() == Code::kSuccess) {
  }
  ::unsetenv("BERTH_NVML_SIM_STATE");
}

GpuRecord Simulated::gpu(std::uint32_t index) const {
  GpuRecord record;
  others_->read([&](const MachineRecord& machine) { record = machine.gpus[index]; });
  return record;
}

void Simulated::change(std::uint32_t gpu, const std::function<void(GpuRecord&)>& work) const {
  others_->change(gpu, [&](MachineRecord& machine) { work(machine.gpus[gpu]); });
}

void Simulated::change_machine(const std::function<void(MachineRecord&)>& work) const { others_->change_all(work); }

void Simulated::add_fault(std::uint32_t gpu, std::string_view call, Code error, const FaultRecord& fault) const {
  FaultRecord added = fault;
  added.kind = FaultRecord::kAnswer;
  added.error = static_cast<std::int32_t>(error);
  if (added.times == 0) added.times = 1;
  nvml_sim::put_text(added.call, call);
  change(gpu, [&](GpuRecord& record) { ENSURE(nvml_sim::add_fault(record, added)); });
}

void Simulated::hang(std::uint32_t gpu, std::string_view call) const {
  constexpr std::int64_t kForEverMs = 120'000;
  add_fault(gpu, call, Code::kSuccess, {.delay_ms = kForEverMs});
}

void Simulated::clear_faults(std::uint32_t gpu) const {
  change(gpu, [](GpuRecord& record) { nvml_sim::clear_faults(record); });
}

void Simulated::set_latency(nvml_sim::Latency latency, std::chrono::milliseconds duration) const {
  change_machine([&](MachineRecord& machine) {
    machine.latency_us[static_cast<int>(latency)] = std::chrono::microseconds(duration).count();
  });
}

nvml_abi::Device device(std::uint32_t index) {
  nvml_abi::Device found = nullptr;
  ENSURE(nvml_abi::nvmlDeviceGetHandleByIndex_v2(index, &found) == Code::kSuccess);
  return found;
}

std::string uuid_of(nvml_abi::Device device) {
  char uuid[nvml_abi::kUuidV2Bytes] = {};
  ENSURE(nvml_abi::nvmlDeviceGetUUID(device, uuid, sizeof(uuid)) == nvml_abi::Code::kSuccess);
  return uuid;
}

bool wait_until(const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace berth::edges::testing
