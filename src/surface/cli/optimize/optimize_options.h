/// The options of `berth optimize`: as typed, and checked.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"
#include "models/optimize/optimize_request.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct OptimizeWords {
  std::string model = {};
  std::string calibration = {};
  std::optional<std::string> evaluation = std::nullopt;
  std::string max_loss = "0.5%";
  std::string methods = "fuse,prune,int8,fp16";
  std::string ranges = "best";
  std::string keep = "better";
  std::string batches = "1,8,64";
  std::optional<std::string> metric = std::nullopt;
  std::string goal = "latency";
  std::string device = "cpu";
  std::optional<std::string> engine = std::nullopt;
  std::string budget_seconds = "600";
  std::string seed = "1";
  std::string out = {};
  std::optional<std::string> report = std::nullopt;
  std::string format = "table";
};

struct CheckedOptimize {
  models::OptimizeRequest request;
  std::optional<std::string> report_dir = std::nullopt;
  OutputFormat format = OutputFormat::kTable;
};

[[nodiscard]] OptionTable optimize_option_rows(OptimizeWords& words);

/// Checked, as far as possible without the files.
[[nodiscard]] Result<CheckedOptimize> check_optimize_options(const OptimizeWords& words);

}  // namespace berth::cli
