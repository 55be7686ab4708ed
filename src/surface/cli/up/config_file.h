/// The configuration file of `berth up`, read and checked (docs/reference/config.md), and what it makes of the flags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "domain/values/no_changes.h"
#include "gpu/device/managed_gpu.h"
#include "surface/cli/up/config_keys.h"
#include "surface/cli/up/up_options.h"

namespace berth::cli {

/// What a file says.
struct Config {
  UpOptions options;  ///< as written: each could be typed as a flag
  Retention retention;
  std::vector<WeekSpan> no_changes;
  std::vector<device::ManagedGpu> manage;  ///< no UUID twice
  std::vector<std::string> manage_places;  ///< of each UUID: "FILE:LINE:COLUMN: manage[0].uuid"
};

/// Reads the text of a file. `path` is for messages. Errors name file, line and column, what was wanted and found;
/// for an unknown key the nearest known one.
[[nodiscard]] Result<Config> read_config(std::string_view text, const std::string& path);

/// What `berth up` is to do by its flags and the file that they name, if any: a flag precedes the file. Errors: those
/// of the file, also of values that a flag replaces, and of the flags.
[[nodiscard]] Result<UpRequest> read_up_request(const UpOptions& typed, const Files& files);

/// A key whose value in a file that was read again does not take effect.
struct UnappliedKey {
  std::string_view name;  ///< as in config_keys(), or "manage": the whole list
  ConfigReload reload = ConfigReload::kRestart;
  std::string in_force;  ///< as written, or the default in words
  std::string found;     ///< the same
};

/// In the order of config_keys().
[[nodiscard]] std::vector<UnappliedKey> find_unapplied(const UpRequest& running, const UpRequest& read);

}  // namespace berth::cli
