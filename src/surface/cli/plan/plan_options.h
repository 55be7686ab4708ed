/// The options of `berth plan`: as typed, and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/core/result.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct PlanWords {
  std::string scenario;
  std::string at;
  std::string seed = "1";
  std::string reasons = "20";
  std::string format = "table";
  bool is_explained = false;
  bool has_timings = false;
};

[[nodiscard]] OptionTable plan_option_rows(PlanWords& words);

/// Checked, as far as possible without the scenario.
struct PlanRequest {
  std::string scenario_path;
  std::int64_t at_second = 0;
  std::uint64_t seed = 1;
  std::size_t reasons = 20;  ///< the number of steps with reasons; planner::kAllReasons: all
  OutputFormat format = OutputFormat::kTable;
  bool is_explained = false;
  bool has_timings = false;
};

/// Refuses an empty path; a second, a seed or a number of reasons that is not a whole number in its range; an unknown
/// format.
[[nodiscard]] Result<PlanRequest> check_plan_options(const PlanWords& words);

}  // namespace berth::cli
