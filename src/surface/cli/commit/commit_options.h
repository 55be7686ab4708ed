/// The options of `berth commit`: as typed, and checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct CommitWords {
  std::string demand;
  std::string demand_format;
  std::string plans;
  std::optional<std::string> policies = std::nullopt;
  bool is_reversed = false;
  std::string format = "table";
  std::optional<std::string> report = std::nullopt;
};

[[nodiscard]] OptionTable commit_option_rows(CommitWords& words);

enum class DemandFormat { kCsv, kOpenbPods };

/// Checked, as far as possible without the files.
struct CommitRequest {
  std::string demand_path;
  DemandFormat demand_format = DemandFormat::kCsv;
  std::string plans_path;
  std::optional<std::string> policies;  ///< names joined by commas; absent: all that are possible with the plans
  bool is_reversed = false;
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> report_dir;
};

/// Refuses empty paths and unknown formats. Policies are checked with the plans.
[[nodiscard]] Result<CommitRequest> check_commit_options(const CommitWords& words);

}  // namespace berth::cli
