/// The options of `berth scale`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "purchase/scale/problem.h"
#include "purchase/scale/study.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/trace_words.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct ScaleWords {
  TraceWords trace;
  std::string replica_rps;
  std::string wait_seconds;
  std::string start_seconds;
  std::string attainment = "0.99";
  std::optional<std::string> micro_usd_per_replica_hour = std::nullopt;
  std::string policies = "all";
  std::string format = "table";
  std::optional<std::string> log = std::nullopt;
  std::optional<std::string> report = std::nullopt;
};

[[nodiscard]] OptionTable scale_option_rows(ScaleWords& words);

/// Checked, as far as possible without the trace.
struct ScaleRequest {
  TraceRequest trace;
  scale::ReplicaRate rate;
  std::int64_t wait_seconds = 0;
  std::int64_t start_seconds = 0;
  Decimal attainment;
  std::optional<std::int64_t> micro_usd_per_replica_hour;
  std::vector<scale::Policy> policies;
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> log_path;
  std::optional<std::string> report_dir;
};

/// Refuses unknown words, numbers out of range, a price that is not a whole number of micro-dollars, and empty paths.
[[nodiscard]] Result<ScaleRequest> check_scale_options(const ScaleWords& words);

}  // namespace berth::cli
