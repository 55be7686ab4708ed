// The input is the text of a fleet file. Accepted input keeps the invariants of gpu/nvml_sim/state.h; a failure names
// the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "gpu/nvml_sim_program/fleet_file.h"

namespace {

using namespace berth;
using namespace berth::nvml_sim;

void check(const GpuRecord& gpu, std::uint32_t index) {
  ENSURE(gpu.index == index && (model_of(gpu).is_mig_capable() || gpu.is_mig_on == 0));
  ENSURE(gpu.is_mig_on == gpu.is_mig_pending_on && !has_instances(gpu));
  for (const FaultRecord& fault : gpu.faults) {
    if (fault.kind == FaultRecord::kNone) continue;
    ENSURE(fault.kind == FaultRecord::kAnswer && fault.times > 0 && fault.after >= 0 && fault.call[0] != '\0');
    ENSURE(fault.error != 0 || fault.delay_ms > 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto fleet = nvml_sim_cli::parse_fleet(text, "fuzz");
  if (!fleet) {
    ENSURE(fleet.error().message.starts_with("fuzz:"));
    return 0;
  }
  const MachineRecord& machine = *fleet->machine;
  ENSURE(machine.gpu_count > 0 && machine.gpu_count <= kGpusMax && machine.driver[0] != '\0');
  for (std::uint32_t i = 0; i < machine.gpu_count; ++i) check(machine.gpus[i], i);
  for (const std::int64_t latency : machine.latency_us) ENSURE(latency >= 0 && latency <= 600'000'000);
  return 0;
}
