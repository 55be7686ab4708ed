/// The options of `berth case`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "sim/study/case.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct CaseWords {
  std::string scenario;
  std::string attainment;
  std::optional<std::string> provision_seconds = std::nullopt;
  std::optional<std::string> committed_micro_usd_per_gpu_hour = std::nullopt;
  std::string seed = "1";
  std::string format = "table";
  std::optional<std::string> report = std::nullopt;
  std::optional<std::string> journal = std::nullopt;
};

[[nodiscard]] OptionTable case_option_rows(CaseWords& words);

/// Checked, as far as possible without the scenario.
struct CaseRequest {
  std::string scenario_path;
  study::CaseOptions options;
  std::optional<std::int64_t> provision_seconds;  ///< instead of the scenario's
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> report_dir;
  std::optional<std::string> journal_dir;
};

/// Refuses empty paths, numbers out of range, a share that is not above 0 and at most 1, and an unknown format.
[[nodiscard]] Result<CaseRequest> check_case_options(const CaseWords& words);

}  // namespace berth::cli
