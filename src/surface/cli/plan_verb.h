/// `berth plan`: the plan that `berth` makes at one second.
#pragma once

#include <cstdio>
#include <string>

#include "base/result.h"
#include "ports/files.h"
#include "surface/cli/plan_options.h"

namespace berth::cli {

/// The environment of the verb.
struct PlanSurroundings {
  const Files& files;             ///< the scenario is read through these
  std::FILE* progress = nullptr;  ///< a terminal that shows progress; absent: none
  bool has_colour = false;        ///< of the table
};

/// Reads the scenario, plans, and returns the text for stdout. A scenario whose constraints cannot be kept is an error
/// that says why. SIGINT and SIGTERM end in ErrorCode::kInterrupted.
[[nodiscard]] Result<std::string> run_plan(const PlanRequest& request, const PlanSurroundings& surroundings);

}  // namespace berth::cli
