/// The command line: every verb of the program `berth`.
#pragma once

#include <cstdio>

#include "ports/files.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// What the composition root hands in.
struct CliParts {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;  ///< borrowed; required
  ReportRenderers reports = {};
  ServerStarter start_server = {};
};

/// Runs the verb that the arguments name and returns the exit status: 0 done, 1 the environment failed, 2 bad input
/// (also on the command line), 130 interrupted. Data goes to `out`; messages ("berth: ...") and progress go to `err`.
/// Lets no exception out.
[[nodiscard]] int run_cli(int argc, const char* const* argv, const CliParts& parts);

}  // namespace berth::cli
