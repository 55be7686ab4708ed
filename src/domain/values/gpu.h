/// GPU models: profiles, their placements, and which facts are unverified. The data is in `domain/mig/`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/values/slice.h"

namespace berth {

/// Which media engines an instance takes from its GPU.
enum class MediaEngines { kOwnShare, kExtended, kAll, kNone };

/// One GPU instance profile of one model, as `nvidia-smi mig -lgip` would list it.
struct MigProfile {
  std::string name;         ///< "3g.40gb", "1g.10gb+me", "1g.24gb-me"
  int compute_slices = 0;   ///< the N of "Ng."
  int length = 0;           ///< placement units that it covers
  std::vector<int> starts;  ///< legal first units, ascending
  int instances_max = 0;    ///< the most on one GPU
  std::optional<int> sms;   ///< streaming multiprocessors
  std::optional<std::int64_t> memory_mib;
  MediaEngines media = MediaEngines::kOwnShare;
  bool is_graphics = false;             ///< "+gfx"
  bool is_double_memory = false;        ///< 1g with the memory of 2g
  int device_profile_id = 0;            ///< the id of nvidia-smi; unique within a model only
  std::string nvml_enum;                ///< suffix of NVML_GPU_INSTANCE_PROFILE_
  std::vector<std::string> unverified;  ///< names of the fields that no primary source confirms

  /// A profile of the plain family 1g, 2g, 3g, 4g, 7g: no media, graphics or memory variant.
  [[nodiscard]] bool is_plain() const { return media == MediaEngines::kOwnShare && !is_graphics && !is_double_memory; }

  friend bool operator==(const MigProfile&, const MigProfile&) = default;
};

/// A GPU model. One without MIG has no profiles and 0 units.
struct GpuModel {
  std::string name;        ///< "A100-80GB"
  int units = 0;           ///< placement units (memory slices): 8, 4 or 12
  int compute_slices = 0;  ///< 7 or 4
  int sms = 0;             ///< of the whole GPU
  bool is_sms_unverified = false;
  std::int64_t memory_mib = 0;  ///< of the whole GPU, nominal
  std::vector<MigProfile> profiles;
  /// Whether the whole GPU can be used as one slice, `full`. Not while a device's MIG mode is on.
  bool has_full = true;
  std::vector<std::string> notes;  ///< remarks for users of this model

  [[nodiscard]] bool is_mig_capable() const { return !profiles.empty(); }
  friend bool operator==(const GpuModel&, const GpuModel&) = default;
};

/// The name of a profile of a model: "3g.40gb", or "full".
[[nodiscard]] std::string profile_name(const GpuModel& model, ProfileId profile);

/// SMs of a profile. If no source states them (`unverified`), compute slices x the SMs of the smallest plain profile:
/// an estimate that the output marks. `full` has the model's.
[[nodiscard]] int profile_sms(const GpuModel& model, ProfileId profile);

}  // namespace berth
