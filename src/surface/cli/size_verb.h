/// `berth size`: how many GPUs a scenario needs under each policy.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "base/result.h"
#include "ports/files.h"
#include "study/size.h"
#include "surface/cli/size_options.h"

namespace berth::cli {

/// Draws the page of --report.
using SizeReportRenderer = std::function<std::string(const study::SizeResult&)>;

/// The environment of the verb.
struct SizeSurroundings {
  const Files& files;                ///< the scenario is read through these
  SizeReportRenderer render_report;  ///< needed for --report only
  std::FILE* progress = nullptr;     ///< a terminal that shows progress; absent: none
  bool has_colour = false;           ///< of the table
};

/// Reads the scenario, sizes it for each policy, writes the report, and returns the text for stdout. An error or an
/// interrupt leaves the outputs as they were. SIGINT and SIGTERM end in ErrorCode::kInterrupted.
[[nodiscard]] Result<std::string> run_size(const SizeRequest& request, const SizeSurroundings& surroundings);

}  // namespace berth::cli
