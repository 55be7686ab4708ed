/// Objects of a small cluster as JSON: a GPU of eight memory slices in two ResourceSlices, as an A100 is published.
#pragma once

#include <string>

namespace berth::kube::testing {

inline constexpr const char* kToyDriver = "gpu.nvidia.com";

/// The slice with the counters of the GPU of a node, and the one with its twelve devices: seven 1g (one memory slice
/// each), three 2g (at 0, 2 and 4) and two 3g (four memory slices each).
[[nodiscard]] std::string counters_slice(const std::string& node, int generation = 1);
[[nodiscard]] std::string devices_slice(const std::string& node, int generation = 1);
/// A class whose devices have this profile: "1g".
[[nodiscard]] std::string class_of_profile(const std::string& profile);
/// A claim on one device of a class. `rest` continues the object: `,"status":{...}`.
[[nodiscard]] std::string claim_on(const std::string& name, const std::string& profile, int version,
                                   const std::string& rest = "");
[[nodiscard]] std::string ready_node(const std::string& name, const std::string& rest_of_spec = "");
/// A gated pod with one claim.
[[nodiscard]] std::string gated_pod(const std::string& name, const std::string& claim, int version);

}  // namespace berth::kube::testing
