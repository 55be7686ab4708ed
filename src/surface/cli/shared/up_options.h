/// The options of `berth up`: as typed, and checked.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"
#include "live/folder/up_request.h"

namespace berth::cli {

/// As typed, or from a configuration file. config_keys.h describes each.
struct UpOptions {
  std::optional<std::string> config = {};  ///< not in the file
  std::optional<std::string> world = {};
  std::optional<std::string> nvml = {};
  std::optional<std::string> load = {};
  std::optional<std::string> hands = {};
  std::optional<std::string> scenario = {};
  std::optional<std::string> seed = {};
  std::optional<std::string> speed = {};
  std::optional<std::string> until = {};
  std::optional<std::string> policy = {};
  std::optional<std::string> approval = {};
  std::optional<std::string> listen = {};
  std::optional<std::string> device_metrics = {};
  std::optional<std::string> data = {};
  std::optional<std::string> journal = {};
  // These must be typed: a file alone must not change GPUs, or accept a clock.
  bool manage_gpus = false;
  bool dry_run = false;
  bool accept_gap = false;  ///< typed for one start: a later gap may be a wrong clock
};

/// The request of the options alone, without their file. Refuses unknown words, numbers out of range, empty paths, and
/// hosts other than 127.0.0.1, ::1 and localhost.
[[nodiscard]] Result<live::UpRequest> check_up_options(const UpOptions& options);

}  // namespace berth::cli
