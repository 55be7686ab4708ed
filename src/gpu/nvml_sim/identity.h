/// Names of simulated objects. They are derived from the objects, so that configurations can name them beforehand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::nvml_sim {

/// A UUID of the name-based form (version 5, variant 1) of two texts: "1b9d6bcd-bbfd-5b2d-9b5d-ab8dfbbd4bed". The
/// digest is our own, not SHA-1, as only this library generates these.
[[nodiscard]] std::string name_based_uuid(std::string_view space, std::string_view name);

/// "GPU-" and a UUID of the model's name and the index.
[[nodiscard]] std::string gpu_uuid(std::string_view model, std::uint32_t index);

/// A 13-digit board serial number, from the same.
[[nodiscard]] std::string board_serial(std::string_view model, std::uint32_t index);

/// The PCI address of a GPU: ascending by index, as NVML numbers GPUs by their addresses.
struct PciAddress {
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
};
[[nodiscard]] PciAddress pci_address(std::uint32_t index);
/// "00000000:07:00.0"
[[nodiscard]] std::string bus_id(const PciAddress& address);

}  // namespace berth::nvml_sim
