#include "gpu/nvml/testing/simulated_machine.h"

#include <cstdlib>
#include <filesystem>

#include "base/core/ensure.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/testing/gpus.h"

namespace berth::edges::testing {

using nvml_sim::Caller;
using nvml_sim::GpuRecord;
using nvml_sim::MachineRecord;

namespace {

constexpr const char* kStateVariable = "BERTH_NVML_SIM_STATE";

std::string make_folder() {
  std::string folder = (std::filesystem::temp_directory_path() / "berth-nvml-XXXXXX").string();
  ENSURE(::mkdtemp(folder.data()) != nullptr);
  return folder;
}

}  // namespace

std::optional<std::string> find_simulated_library(std::string_view name) {
  const char* const program = std::getenv("BERTH_PROGRAM");
  if (program == nullptr) return std::nullopt;
  std::filesystem::path path = std::filesystem::path(program).parent_path() / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path.string();
}

SimulatedMachine::SimulatedMachine(const std::vector<std::string_view>& models) : folder_(make_folder()) {
  const auto machine = std::make_unique<MachineRecord>();
  nvml_sim::put_text(machine->driver, "580.95");
  nvml_sim::put_text(machine->boot_id, "2f0c1c1e-1111-4222-8333-000000000001");
  for (const std::string_view model : models) {
    machine->gpus[machine->gpu_count] = nvml_sim::testing::gpu_of(model, machine->gpu_count);
    ++machine->gpu_count;
  }
  const std::string path = folder_ + "/state";
  ENSURE(SimStateFile::create(path, *machine).has_value());
  auto file = SimStateFile::open(path);
  ENSURE(file.has_value());
  file_ = std::move(*file);
  ENSURE(::setenv(kStateVariable, path.c_str(), 1) == 0);
}

SimulatedMachine::~SimulatedMachine() {
  ::unsetenv(kStateVariable);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string SimulatedMachine::uuid(std::uint32_t gpu) {
  std::string uuid;
  file_->read([&](const MachineRecord& machine) { uuid = machine.gpus[gpu].uuid; });
  return uuid;
}

void SimulatedMachine::change(std::uint32_t gpu, const std::function<void(GpuRecord&)>& work) {
  file_->change(gpu, [&](MachineRecord& machine) { work(machine.gpus[gpu]); });
}

int SimulatedMachine::create(std::uint32_t gpu, std::string_view profile) {
  constexpr Caller kRoot{.may_change = true};
  int id = -1;
  change(gpu, [&](GpuRecord& record) {
    const std::uint32_t profile_id = nvml_sim::testing::profile_id(record, profile);
    const auto made = nvml_sim::create_gpu_instance(record, profile_id, std::nullopt, kRoot);
    ENSURE(made.has_value());
    id = *made;
    const int slices = nvml_sim::model_of(record).profiles[record.gpu_instances[id].profile].compute_slices;
    const std::uint32_t compute_profile = nvml_sim::compute_profile_of_slices(slices);
    ENSURE(nvml_sim::create_compute_instance(record, id, compute_profile, std::nullopt, kRoot).has_value());
  });
  return id;
}

}  // namespace berth::edges::testing
