/// The options of `berth forecast`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/trace_words.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct ForecastWords {
  TraceWords trace;
  std::string horizon = "200";
  std::string every = "50";
  std::string format = "table";
  std::optional<std::string> report = std::nullopt;
};

[[nodiscard]] OptionTable forecast_option_rows(ForecastWords& words);

inline constexpr std::int64_t kHorizonSecondsMax = 86'400;

/// Checked, as far as possible without the trace.
struct ForecastRequest {
  TraceRequest trace;
  std::int64_t horizon = 200;
  std::int64_t every = 50;
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> report_dir;
};

/// Refuses whatever check_trace_words refuses, numbers out of range, an unknown format and empty paths.
[[nodiscard]] Result<ForecastRequest> check_forecast_options(const ForecastWords& words);

}  // namespace berth::cli
