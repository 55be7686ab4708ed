/// The command line: every verb of the program `berth`.
#pragma once

#include <cstdio>

#include "ports/files.h"
#include "surface/cli/forecast_verb.h"
#include "surface/cli/pack_run.h"
#include "surface/cli/replay_verb.h"
#include "surface/cli/size_verb.h"

namespace berth::cli {

/// The parts that the composition root passes in.
struct CliParts {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;                             ///< borrowed; required
  ReportRenderer render_report;                             ///< required
  SizeReportRenderer render_size_report = nullptr;          ///< needed for `berth size --report` only
  PackReportRenderer render_pack_report = nullptr;          ///< needed for `berth pack --report` only
  ForecastReportRenderer render_forecast_report = nullptr;  ///< needed for `berth forecast --report` only
};

/// Runs the verb that the arguments name and returns the exit status: 0 done, 1 the environment failed, 2 bad input
/// (also on the command line), 130 interrupted. Data goes to `out`; messages ("berth: ...") and progress go to `err`.
/// Throws no exception.
[[nodiscard]] int run_cli(int argc, const char* const* argv, const CliParts& parts);

}  // namespace berth::cli
