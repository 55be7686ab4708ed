/// GPUs passed through to a virtual machine, which NVML does not show.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace berth::edges {

struct PassedThroughGpu {
  std::string pci_bus_id;           ///< "0000:07:00.0"
  std::uint16_t pci_device_id = 0;  ///< 0x20B2, without the vendor; 0: it cannot be read
  friend bool operator==(const PassedThroughGpu&, const PassedThroughGpu&) = default;
};

/// NVIDIA's display and 3D controllers that are bound to vfio-pci, by address. `sysfs_root` is /sys. Unreadable devices
/// are left out.
[[nodiscard]] std::vector<PassedThroughGpu> find_passed_through_gpus(const std::filesystem::path& sysfs_root);

}  // namespace berth::edges
