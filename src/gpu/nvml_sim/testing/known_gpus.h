/// GPU models and their MIG profiles, typed a second time from their sources (NVIDIA's MIG User Guide and the listings
/// that docs/explanation/geometry.md names), so that the tables of module `mig` are tested, too: nothing here is
/// derived from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth::nvml_sim::testing {

/// Engines that an instance takes from its GPU; absent: not known, and then not counted.
struct KnownEngines {
  std::optional<int> copy;
  std::optional<int> decoders;
  std::optional<int> encoders;
  std::optional<int> jpeg;
  std::optional<int> optical_flow;
};

struct KnownProfile {
  std::string name;          ///< "3g.40gb"
  std::uint32_t number = 0;  ///< NVML_GPU_INSTANCE_PROFILE_...
  std::uint32_t id = 0;      ///< of nvidia-smi
  int slices = 0;
  int length = 0;  ///< placement units
  std::vector<int> starts;
  int instances_max = 0;
  KnownEngines engines;
  std::optional<int> memory_mib;
};

struct KnownGpu {
  std::string model;
  int gigabytes = 0;
  int slices = 0;  ///< also the most MIG devices; 0: without MIG
  int units = 0;
  bool is_ampere = false;                   ///< a change of the mode needs a reset and survives a reboot
  std::vector<KnownProfile> profiles = {};  ///< the one of all slices has all engines of the GPU

  [[nodiscard]] bool is_mig_capable() const { return !profiles.empty(); }
};

/// All of the catalogue.
[[nodiscard]] const std::vector<KnownGpu>& known_gpus();

}  // namespace berth::nvml_sim::testing
