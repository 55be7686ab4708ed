/// The GPUs of a local world as its folder records them: the world keeps the models with which it began.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "gpu/device/local_gpu.h"

namespace berth::live {

/// The fleet's name among the recorded files of a world. No file of a scenario has this name.
inline constexpr const char* kLocalFleetFile = "berth:local-fleet";
/// Likewise the cluster of a world of a cluster, which has a fleet, too: the uid of its namespace kube-system.
inline constexpr const char* kClusterFile = "berth:cluster";

/// JSON.
[[nodiscard]] std::string fleet_json(const std::vector<device::LocalGpu>& gpus);
/// Without the differences. Error: the text was not written by `fleet_json`.
[[nodiscard]] Result<std::vector<device::LocalGpu>> read_fleet_json(const std::string& text);

}  // namespace berth::live
