/// The configuration file of `berth up`, read and checked (docs/reference/config.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "domain/values/no_changes.h"
#include "gpu/device/managed_gpu.h"
#include "gpu/programs/program_rules.h"
#include "kube/placing/owned_pools.h"
#include "live/folder/up_request.h"
#include "surface/cli/shared/up_options.h"

namespace berth::cli {

/// The content of a configuration file.
struct Config {
  UpOptions options;  ///< as written: each has a flag
  live::Retention retention;
  std::vector<WeekSpan> no_changes;
  std::int64_t series_max = live::UpRequest().series_max;
  std::optional<Decimal> tier_sure;
  std::optional<std::string> tier_model;  ///< path
  bool learns_speed = true;
  std::optional<std::string> xid_policy;  ///< path
  bool is_health_dry_run = false;
  std::string hostname_label;                    ///< of device metrics
  std::vector<device::ManagedGpu> manage;        ///< no UUID twice
  std::vector<std::string> manage_places;        ///< of each UUID: "FILE:LINE:COLUMN: manage[0].uuid"
  programs::ProgramRules programs;               ///< what berth hands may run; berth up ignores it
  std::vector<kube::OwnedPools> kubernetes_own;  ///< no pool twice
  std::int64_t kubernetes_gpus_max = kube::kOwnedGpusMax;
};

/// Reads the text of a file. `path` is for messages. Errors name file, line and column, what was wanted and found;
/// for an unknown key the nearest known one.
[[nodiscard]] Result<Config> read_config(std::string_view text, const std::string& path);

}  // namespace berth::cli
