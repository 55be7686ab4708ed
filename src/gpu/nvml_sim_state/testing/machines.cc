#include "gpu/nvml_sim_state/testing/machines.h"

#include <cstdlib>

#include "base/core/ensure.h"
#include "gpu/nvml_sim/testing/gpus.h"

namespace berth::edges::testing {

using nvml_sim::MachineRecord;

Scratch::Scratch() {
  std::string folder = (std::filesystem::temp_directory_path() / "berth-nvml-sim-XXXXXX").string();
  ENSURE(::mkdtemp(folder.data()) != nullptr);
  path = folder;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::unique_ptr<MachineRecord> machine_of(const std::vector<std::string_view>& models) {
  auto machine = std::make_unique<MachineRecord>();
  nvml_sim::put_text(machine->driver, "580.95");
  nvml_sim::put_text(machine->boot_id, "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed");
  for (const std::string_view model : models) {
    machine->gpus[machine->gpu_count] = nvml_sim::testing::gpu_of(model, machine->gpu_count);
    ++machine->gpu_count;
  }
  return machine;
}

void create_state(const std::string& path, const std::vector<std::string_view>& models) {
  const Result<void> created = SimStateFile::create(path, *machine_of(models));
  ENSURE(created.has_value());
}

std::unique_ptr<SimStateFile> open_state(const std::string& path) {
  auto file = SimStateFile::open(path);
  ENSURE(file.has_value());
  return std::move(*file);
}

std::unique_ptr<MachineRecord> copy_of(SimStateFile& file) {
  auto copy = std::make_unique<MachineRecord>();
  file.read([&](const MachineRecord& machine) { *copy = machine; });
  return copy;
}

}  // namespace berth::edges::testing
