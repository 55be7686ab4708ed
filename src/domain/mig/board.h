/// Properties of a GPU model's board beyond its geometry, as NVML reports them: for a simulated NVML library and for
/// readers of real ones. Planning needs none of them. Data with its sources; values that no primary source confirms are
/// marked `unverified`.
///
/// A model may be sold as several boards, which differ in name and PCI device id; a Board is one of them (for the A100,
/// the SXM4 board).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/values/gpu.h"
#include "domain/values/slice.h"

namespace berth::mig {

enum class Architecture { kUnknown, kVolta, kTuring, kAmpere, kAda, kHopper, kBlackwell };

/// Power and clocks, as public outputs of nvidia-smi show them; the lowest limit and the power of an idle board are
/// round figures.
struct BoardPower {
  int limit_watts = 0;      ///< by default, and the highest
  int limit_min_watts = 0;  ///< the lowest that can be set
  int idle_watts = 0;
  int sm_clock_max_mhz = 0;
  int memory_clock_max_mhz = 0;
  friend bool operator==(const BoardPower&, const BoardPower&) = default;
};

struct Board {
  std::string name;                 ///< "NVIDIA A100-SXM4-80GB"
  std::uint16_t pci_device_id = 0;  ///< NVIDIA's vendor id is 0x10DE
  Architecture architecture = Architecture::kUnknown;
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  std::int64_t memory_mib = 0;  ///< of the whole GPU
  BoardPower power = {};
  bool needs_reset_for_mode = false;    ///< a change of the MIG mode takes effect at a reset; false without MIG
  bool mode_survives_reboot = false;    ///< the MIG mode; instances never survive; false without MIG
  std::vector<std::string> unverified;  ///< names of the fields that no primary source confirms
  friend bool operator==(const Board&, const Board&) = default;
};

/// Requires: a model of `gpu_models`.
[[nodiscard]] const Board& board_of(const GpuModel& model);

/// Engines of one GPU instance; absent: no source states how many. `MigProfile::unverified` lists the uncertain ones.
struct Engines {
  std::optional<int> copy;
  std::optional<int> decoders;
  std::optional<int> encoders;
  std::optional<int> jpeg;
  std::optional<int> optical_flow;
  friend bool operator==(const Engines&, const Engines&) = default;
};

/// Requires: a model of `gpu_models`, and a profile of it that is not `full`.
[[nodiscard]] Engines profile_engines(const GpuModel& model, ProfileId profile);

}  // namespace berth::mig
