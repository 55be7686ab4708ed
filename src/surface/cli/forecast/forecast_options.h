/// The options of `berth forecast`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct ForecastWords {
  std::string trace;
  std::string trace_format;
  std::optional<std::string> app = std::nullopt;
  std::optional<std::string> function = std::nullopt;
  std::string horizon = "200";
  std::string every = "50";
  std::string from_second = "0";
  std::optional<std::string> seconds = std::nullopt;
  std::string seed = "1";
  std::string format = "table";
  std::optional<std::string> report = std::nullopt;
};

enum class TraceFormat { kRpsText, kCsv, kAzureLlm, kAzureFunctions };

inline constexpr std::int64_t kHorizonSecondsMax = 86'400;

/// Checked, as far as possible without the trace.
struct ForecastRequest {
  std::string trace_path;
  TraceFormat trace_format = TraceFormat::kRpsText;
  std::optional<std::string> app;       ///< of azure-functions: at most one of these two; neither: all functions summed
  std::optional<std::string> function;  ///< likewise
  std::int64_t horizon = 200;
  std::int64_t every = 50;
  std::int64_t from_second = 0;
  std::optional<std::int64_t> seconds;  ///< absent: to the trace's end
  std::uint64_t seed = 1;
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> report_dir;
};

/// Refuses unknown formats, --app and --function together or with another format than azure-functions, numbers out of
/// range and empty paths.
[[nodiscard]] Result<ForecastRequest> check_forecast_options(const ForecastWords& words);

}  // namespace berth::cli
