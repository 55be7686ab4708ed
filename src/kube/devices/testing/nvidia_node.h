/// Nodes with GPUs as NVIDIA's driver publishes them: an A100-80GB with all plain profiles at all starts.
#pragma once

#include <string>

namespace berth::kube::testing {

/// The slice with the counters of the GPUs of a node, and the one with their devices: "gpu-0",
/// "gpu-0-mig-1g10gb-19-0".
[[nodiscard]] std::string nvidia_counters_slice(const std::string& node, int gpu_count);
[[nodiscard]] std::string nvidia_devices_slice(const std::string& node, int gpu_count,
                                               const std::string& product = "NVIDIA A100-SXM4-80GB");
/// A class whose devices have this profile: class "1g" for "1g.10gb".
[[nodiscard]] std::string nvidia_class(const std::string& name, const std::string& profile);

}  // namespace berth::kube::testing
