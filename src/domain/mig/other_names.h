/// Names in files of other programs that the catalogue does not use itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/values/gpu.h"
#include "domain/values/slice.h"

namespace berth::mig {

/// The profile of that name in the catalogue (`find_profile`), or by a name that another driver gives to it: "1g.24gb"
/// is the 1g.23gb of a GB200.
[[nodiscard]] std::optional<ProfileId> find_profile_by_any_name(const GpuModel& model, std::string_view name);

/// The GPU with that PCI device id whose placements are not known ("B300"); nothing for other ids.
[[nodiscard]] std::optional<std::string> gpu_known_by_name(std::uint16_t pci_device_id);

}  // namespace berth::mig
