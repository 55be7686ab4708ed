/// The command line: every verb of the program `berth`.
#pragma once

#include <cstdio>

#include "domain/ports/files.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// What the composition root provides.
struct CliParts {
  std::FILE* in = stdin;
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;  ///< borrowed; required
  UpRunner run_up = {};
  ServeRunner run_serve = {};
  GatewayRunner run_gateway = {};
  OperatorRunner run_operator = {};
  PodExplainer explain_pod = {};
  const OptimizeOutside* optimize = nullptr;  ///< borrowed; required by `optimize`
  const ProfileOutside* profile = nullptr;    ///< borrowed; required by `profile`
  HttpClientMaker make_http_client = {};
};

/// Runs the verb that the arguments name and returns the exit status: 0 done, 1 the environment failed, 2 bad input
/// (also on the command line), 130 interrupted; of the verbs that talk to a server also 3 to 7 (client/outcome.h). Data
/// goes to `out`; messages ("berth: ...") and progress go to `err`. Lets no exception out.
[[nodiscard]] int run_cli(int argc, const char* const* argv, const CliParts& parts);

}  // namespace berth::cli
