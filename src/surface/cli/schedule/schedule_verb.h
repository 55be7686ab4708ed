/// `berth schedule`: its options, its help, and what it runs.
#pragma once

#include "surface/cli/shared/verb.h"

namespace CLI {
class App;
}

namespace berth::cli {

/// Adds the verb. Parsing a command line that names it runs it; `context` must outlive the parsing.
void add_schedule_verb(CLI::App& app, VerbContext& context);

}  // namespace berth::cli
