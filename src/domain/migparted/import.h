/// Applies a mig-parted file to GPU models: each entry's instances at their places.
///
/// An entry is for a GPU model if its device filter accepts the model. An entry without a filter is for every model,
/// but files hold entries for several models, so one whose profiles the model does not have may be meant for others. A
/// filter that names the model leaves no such doubt: there a profile of other models is always an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/mig/geometry.h"
#include "domain/migparted/config_file.h"
#include "domain/values/gpu.h"

namespace berth::migparted {

/// The GPUs and the label for which a file is read.
struct ImportOptions {
  std::optional<GpuModel> gpu;    ///< nothing: every GPU whose profiles and PCI ids fit
  std::string label;              ///< the one that is wanted; empty: all
  bool skips_other_gpus = false;  ///< entries without a filter for the GPU whose profiles it does not have are left out
  std::string_view skip_hint = {};  ///< ends each refusal that `skips_other_gpus` would avoid: "; --skip-other-gpus .."
};

/// An entry's instances on one GPU model.
struct PlacedLayout {
  GpuModel gpu;
  mig::State state;
};

/// An entry and the placements of its instances. No layouts: MIG is off, the entry is for other GPUs, or it is empty
/// and no GPU was named.
struct PlacedEntry {
  ConfigEntry entry;
  std::vector<PlacedLayout> layouts;
  bool is_for_other_gpus = false;
};

struct PlacedConfig {
  std::string label;
  std::vector<PlacedEntry> entries;
};

/// The labels of a file with the least fragmented layout of each entry (domain/mig/multiset.h). Entries whose device
/// filter excludes the given GPU are kept and marked. A profile may have the name that another driver gives it. Errors
/// with FILE:LINE:COLUMN and key path, in addition to those of `parse_config_file`: a profile that the GPU, or every
/// GPU of the device filter, does not have; instances that cannot exist together; no such label.
[[nodiscard]] Result<std::vector<PlacedConfig>> import_config_file(std::string_view text, std::string_view file,
                                                                   const ImportOptions& options);

/// Whether a device filter ("0x20B210DE", device and vendor; a subsystem after a colon is ignored) accepts a
/// model.
[[nodiscard]] bool is_selected(const std::vector<std::string>& device_filter, const GpuModel& model);

}  // namespace berth::migparted
