/// The catalogue of GPU models: those with MIG, with profiles and legal starts, and those without. Data with its
/// sources; values that no primary source confirms are marked `unverified`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/values/gpu.h"
#include "domain/values/slice.h"

namespace berth::mig {

/// Every model, those with MIG first, in a fixed order.
[[nodiscard]] const std::vector<GpuModel>& gpu_models();

/// The model of that name, or the only one whose name begins with it ("A30", "GB200"), or the only one of these
/// in which a hyphen follows it ("L4", though there is L40S); "H100-80GB" means SXM5. The error lists the candidates.
[[nodiscard]] Result<GpuModel> find_gpu_model(std::string_view name);

/// What `find_gpu_model` assumes about a name that stands for several boards ("H100-80GB"), as a sentence; nothing for
/// other names.
[[nodiscard]] std::optional<std::string> gpu_name_remark(std::string_view name);

/// The profile of that name ("2g.20gb", "full"); nothing if the model does not have it. "full" exists for every model.
[[nodiscard]] std::optional<ProfileId> find_profile(const GpuModel& model, std::string_view name);

/// PCI device ids of the boards of a model ("0x20B2"), as mig-parted's device filters name them; empty if not known.
[[nodiscard]] std::vector<std::uint16_t> pci_device_ids(std::string_view model_name);

/// Names of the GPUs that have a profile of that name, including GPUs whose placements are not known.
[[nodiscard]] std::vector<std::string> gpus_with_profile(std::string_view profile_name);

}  // namespace berth::mig
