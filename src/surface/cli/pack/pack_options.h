/// The options of `berth pack`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "domain/scenario/packing_files.h"
#include "domain/values/packing.h"
#include "planner/packing/pack.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct PackArguments {
  std::optional<std::string> gpu;
  std::optional<std::string> fleet;
  std::string profiles;
  std::string profile_format;
  std::string demand;
  std::string processes_max = "3";
  std::string slo_factor = "0.45";
  std::string headroom = "1.0";
  std::optional<std::string> no_share;
  std::optional<std::string> nodes;
  bool is_verifying = false;
  bool is_curing = false;
  std::string seed = "1";
  std::string format = "table";
  std::optional<std::string> report;
  std::optional<std::string> check;
  std::optional<std::string> from;
};

[[nodiscard]] OptionTable pack_option_rows(PackArguments& arguments);

/// Checked, as far as possible without the files.
struct PackRequest {
  std::optional<std::string> gpu;  ///< exactly one of `gpu` and `fleet_path`
  std::optional<std::string> fleet_path;
  std::string profiles_path;
  scenario::ProfileFormat profile_format = scenario::ProfileFormat::kParvagpu;
  std::string demand_path;
  PackingRules rules;
  packing::PackOptions search;
  bool is_verifying = false;
  bool is_curing = false;
  std::uint64_t seed = 1;  ///< replays use it and the two numbers after it
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> report_dir;
  std::optional<std::string> check_path;  ///< verify this plan instead of searching
  std::optional<std::string> from_path;   ///< the present plan
};

/// Refuses both or neither of --gpu and --fleet, unknown words, empty paths, numbers out of range, and --check together
/// with options of a search.
[[nodiscard]] Result<PackRequest> check_pack_options(const PackArguments& arguments);

}  // namespace berth::cli
