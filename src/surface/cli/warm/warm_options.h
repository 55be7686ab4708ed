/// The options of `berth warm`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "serving/warm_study/policies.h"
#include "serving/warm_study/problem.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct WarmWords {
  std::string trace;
  std::string trace_format;
  std::optional<std::string> memory = std::nullopt;
  std::optional<std::string> memory_mib = std::nullopt;
  std::string policies = "all";
  std::string cold_minutes = "30";
  std::string weigh = "invocations";
  std::string load_seconds = "10";
  std::optional<std::string> micro_usd_per_idle_hour = std::nullopt;
  std::string format = "table";
  std::optional<std::string> log = std::nullopt;
  std::optional<std::string> report = std::nullopt;
};

[[nodiscard]] OptionTable warm_option_rows(WarmWords& words);

enum class AppTraceFormat { kAzureFunctions, kCsv };

/// Checked, as far as possible without the files.
struct WarmRequest {
  std::string trace_path;
  AppTraceFormat trace_format = AppTraceFormat::kCsv;
  std::optional<std::string> memory_path;
  std::optional<std::int64_t> memory_mib;
  std::vector<warm::Policy> policies;
  warm::Weigh weigh = warm::Weigh::kInvocations;
  warm::Prices prices;
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> log_path;
  std::optional<std::string> report_dir;
};

/// Refuses unknown words, numbers out of range, a memory without sizes, a log of several policies, and empty paths.
[[nodiscard]] Result<WarmRequest> check_warm_options(const WarmWords& words);

}  // namespace berth::cli
