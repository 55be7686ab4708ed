/// The options of `berth tier evaluate`: as typed, and checked.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"
#include "tier/evaluate/cases.h"
#include "tier/readers/tier_source.h"

namespace berth::cli {

/// As typed.
struct TierEvaluateWords {
  std::string data;
  std::string source;
  std::optional<std::string> tiers = std::nullopt;
  std::string measure = "0";
  std::string sure = "0.9";
  std::string leave = "group";
  std::optional<std::string> fractions = std::nullopt;
  std::optional<std::string> latencies = std::nullopt;
  std::optional<std::string> rates = std::nullopt;
  std::optional<std::string> log = std::nullopt;
  std::string format = "table";
};

[[nodiscard]] OptionTable tier_evaluate_option_rows(TierEvaluateWords& words);

/// Checked, as far as possible without the files.
struct TierEvaluateRequest {
  std::string data;
  tier::TierSource source = tier::TierSource::kCsv;
  std::optional<std::string> tiers_path;
  int measurements_max = 0;
  double sure = 0.9;
  std::optional<std::string> leave_path;  ///< absent: each model alone
  tier::CaseSettings cases;
  std::optional<std::string> log_path;
  OutputFormat format = OutputFormat::kTable;
};

/// Refuses unknown words, numbers out of range, empty paths, and csv without --tiers.
[[nodiscard]] Result<TierEvaluateRequest> check_tier_evaluate_options(const TierEvaluateWords& words);

}  // namespace berth::cli
