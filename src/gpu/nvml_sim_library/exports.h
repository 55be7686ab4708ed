/// The C functions of NVML, as the library exports them. Their contracts are NVML's; their answers are computed in
/// nvml_sim. Only for the files that define them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "domain/mig/board.h"
#include "gpu/nvml_abi/abi.h"
#include "gpu/nvml_abi/codes.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim_library/library.h"

namespace berth::nvml_abi {

extern "C" {
#define BERTH_NVML_FUNCTION(name, parameters) [[gnu::visibility("default")]] Code name parameters;
#define BERTH_NVML_TEXT_FUNCTION(name, parameters) [[gnu::visibility("default")]] const char* name parameters;
#include "gpu/nvml_abi/simulated.inc"
}

/// Writes a zero-terminated text. kInsufficientSize: the buffer is too small.
[[nodiscard]] inline Code write_text(std::string_view text, char* out, std::size_t size) {
  if (text.size() >= size) return Code::kInsufficientSize;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return Code::kSuccess;
}

/// Writes one value, as most queries do.
template <class Out, class Value>
[[nodiscard]] Code write(Out* out, Value value) {
  *out = static_cast<Out>(value);
  return Code::kSuccess;
}

/// Handles of existing objects, as the C types.
[[nodiscard]] inline Device device_handle(const nvml_sim::MachineRecord& machine, std::uint32_t gpu) {
  return static_cast<Device>(edges::library().handle_of(machine, {.kind = edges::HandleKind::kGpu, .gpu = gpu}));
}
[[nodiscard]] inline Device device_handle(const nvml_sim::MachineRecord& machine, std::uint32_t gpu,
                                          const nvml_sim::MigDevice& device) {
  return static_cast<Device>(edges::library().handle_of(machine, {.kind = edges::HandleKind::kMigDevice,
                                                                  .gpu = gpu,
                                                                  .gpu_instance = device.gpu_instance,
                                                                  .compute_instance = device.compute_instance}));
}

[[nodiscard]] inline bool is_mig(const edges::Subject& subject) {
  return subject.target.kind == edges::HandleKind::kMigDevice;
}
/// Requires: `is_mig`.
[[nodiscard]] inline nvml_sim::MigDevice mig_device_of(const edges::Subject& subject) {
  return {subject.target.gpu_instance, subject.target.compute_instance};
}

/// Engines, as in every description; 0 if no source states their number.
template <class Description>
void write_engines(const mig::Engines& engines, Description& description) {
  const auto count = [](const std::optional<int>& known) { return static_cast<std::uint32_t>(known.value_or(0)); };
  description.copy_engines = count(engines.copy);
  description.decoders = count(engines.decoders);
  description.encoders = count(engines.encoders);
  description.jpeg_engines = count(engines.jpeg);
  description.ofa_engines = count(engines.optical_flow);
}

}  // namespace berth::nvml_abi
