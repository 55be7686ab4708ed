/// The options of `berth spot`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "purchase/spot/study.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct SpotWords {
  std::string windows;
  std::string policies = "all";
  std::string task_hours = "48";
  std::string deadline_hours = "52,70";
  std::string restart_hours = "0.02,0.05,0.1";
  std::string on_demand = "3.06";
  std::string spot = "0.9731";
  std::string zones = "apart";
  std::string format = "table";
  std::optional<std::string> report = std::nullopt;
  std::optional<std::string> runs = std::nullopt;
};

[[nodiscard]] OptionTable spot_option_rows(SpotWords& words);

/// Checked, as far as possible without the windows.
struct SpotRequest {
  std::string windows_path;
  std::vector<purchase::SpotPolicy> policies;
  purchase::SpotStudy study;  ///< its markets are still to be read
  bool are_zones_together = false;
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> report_dir;
  std::optional<std::string> runs_path;
};

/// Refuses unknown words, hours that are not whole seconds, prices that are not whole micro-dollars, and a task that
/// does not fit into a deadline together with one restart.
[[nodiscard]] Result<SpotRequest> check_spot_options(const SpotWords& words);

}  // namespace berth::cli
