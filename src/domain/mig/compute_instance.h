/// Compute instances: how the compute slices of one GPU instance are divided further. They share its memory and
/// engines.
///
/// Model: a GPU instance of N compute slices holds compute instances of 1, 2, 3, 4 or 7 slices, at most N in total. Its
/// own profile name means one compute instance of all N (the default); a smaller one is called "1c.3g.20gb". Only the
/// 3g of the A100-40GB has a public listing (NVIDIA MIG User Guide); everything else follows the same rule and is
/// marked unverified.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/values/gpu.h"
#include "domain/values/slice.h"

namespace berth::mig {

/// A kind of compute instance within one GPU instance.
struct ComputeProfile {
  std::string name;  ///< "1c.3g.20gb", or "3g.20gb" for the one of all slices
  int slices = 0;
  int instances_max = 0;   ///< the most in a GPU instance without other kinds
  std::optional<int> sms;  ///< a proportional part of the GPU instance's SMs, rounded down
  bool is_unverified = true;
  friend bool operator==(const ComputeProfile&, const ComputeProfile&) = default;
};

/// The kinds that a GPU instance of this profile can hold, by size; the default one (all slices) comes last. Requires:
/// a profile of the model, not `full`.
[[nodiscard]] std::vector<ComputeProfile> compute_profiles(const GpuModel& model, ProfileId gpu_instance);

/// Why compute instances of these sizes cannot exist together in a GPU instance of this profile, or nothing.
[[nodiscard]] std::optional<std::string> find_compute_clash(const GpuModel& model, ProfileId gpu_instance,
                                                            std::span<const int> sizes);

}  // namespace berth::mig
