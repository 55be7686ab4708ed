/// `berth mig profiles|layouts|fits|import|export`: their options, their help, and what they run.
#pragma once

#include "surface/cli/shared/verb.h"

namespace CLI {
class App;
}

namespace berth::cli {

/// Adds the verb with its subcommands. Parsing a command line that names one runs it; `context` must outlive the
/// parsing.
void add_mig_verb(CLI::App& app, VerbContext& context);

}  // namespace berth::cli
