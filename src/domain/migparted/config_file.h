/// Configuration files of NVIDIA's mig-parted (version v1): the instances that a GPU should have, by label. Converts
/// between text and values.
///
/// A file contains counts, never places. Source: github.com/NVIDIA/mig-parted, api/spec/v1 and pkg/mig/builder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "base/yaml/reader.h"
#include "domain/mig/multiset.h"
#include "domain/values/gpu.h"

namespace berth::migparted {

/// A number of instances of a profile, by the name that the file uses ("1g.10gb+me": the plus sign stays).
struct InstanceCount {
  std::string profile;
  int count = 0;  ///< > 0
  friend bool operator==(const InstanceCount&, const InstanceCount&) = default;
};

/// The configuration of some GPUs of a node.
struct ConfigEntry {
  std::vector<std::string> device_filter;   ///< PCI ids as written, "0x20B210DE"; empty: any GPU
  std::optional<std::vector<int>> devices;  ///< indices on the node; nothing: all
  bool is_mig_enabled = false;
  std::vector<InstanceCount> instances;  ///< in the order of the file; none unless MIG is enabled
  friend bool operator==(const ConfigEntry&, const ConfigEntry&) = default;
};

/// A label and its entries (at least one).
struct Config {
  std::string label;  ///< "all-1g.10gb.me": the plus sign of a profile becomes a dot
  std::vector<ConfigEntry> entries;
  friend bool operator==(const Config&, const Config&) = default;
};

inline constexpr std::size_t kEntryCountMax = 1000;
inline constexpr int kInstanceCountMax = 1000;
inline constexpr int kDeviceIndexMax = 1023;

/// The labels of a file, in the file's order; the file may be inside a Kubernetes ConfigMap (config_map.h). Errors with
/// FILE:LINE:COLUMN and key path: errors of YAML, a missing version, mig-configs, devices or mig-enabled, unknown keys,
/// instances without mig-enabled, a malformed name or count.
[[nodiscard]] Result<std::vector<Config>> parse_config_file(std::string_view text, std::string_view file);

/// Called with each entry as it is read; may refuse it at its position. `counts` is the value of mig-devices.
using EntryCheck = std::function<void(std::string_view label, const ConfigEntry& entry, const yaml::Value& counts)>;
[[nodiscard]] Result<std::vector<Config>> parse_config_file(std::string_view text, std::string_view file,
                                                            const EntryCheck& check);

/// The file with these labels; `parse_config_file` reads it back unchanged. Requires: each label has an entry.
[[nodiscard]] std::string write_config_file(const std::vector<Config>& configs);

/// A name as it may be in a label: each + becomes a dot.
[[nodiscard]] std::string label_from(std::string_view name);

/// The labels that mig-parted generates for one GPU model: all-disabled, all-enabled, all-<profile> with as many as
/// fit, and all-balanced (2 x 1g, 2g and 3g; 2 x 1g and 2g on GPUs of four slices). Requires: a model with MIG.
[[nodiscard]] std::vector<Config> generated_configs(const GpuModel& model);

/// The entry that gives all GPUs this multiset of the model's profiles.
[[nodiscard]] ConfigEntry entry_of(const GpuModel& model, const mig::Multiset& multiset);

}  // namespace berth::migparted
