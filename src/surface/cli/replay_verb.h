/// `berth replay`: runs a scenario through policies, and writes the requested outputs.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "base/result.h"
#include "domain/scenario.h"
#include "ports/files.h"
#include "study/replay.h"
#include "surface/cli/replay_options.h"

namespace berth::cli {

/// Draws the page of --report.
using ReportRenderer = std::function<std::string(const Scenario&, const study::ReplayResult&)>;

/// The environment of the verb.
struct ReplaySurroundings {
  const Files& files;             ///< the scenario is read through these
  ReportRenderer render_report;   ///< needed for --report only
  std::FILE* progress = nullptr;  ///< a terminal that shows progress; absent: none
  bool has_colour = false;        ///< of the table
};

/// Reads the scenario, runs the policies, writes the journal and the report, and returns the text for stdout. Outputs
/// are temporary files until all has succeeded, and are then renamed, so an error or an interrupt leaves the existing
/// ones as they were. SIGINT and SIGTERM end in ErrorCode::kInterrupted.
[[nodiscard]] Result<std::string> run_replay(const ReplayRequest& request, const ReplaySurroundings& surroundings);

}  // namespace berth::cli
