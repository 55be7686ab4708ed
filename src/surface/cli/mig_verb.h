/// `berth mig profiles|layouts|fits|import|export`: the options, and the report that each verb runs.
#pragma once

#include "surface/cli/verb.h"

namespace CLI {
class App;
}

namespace berth::cli {

/// Adds the verb `mig` to the program. Parsing runs what it names: text and status go to `context`, which must outlive
/// the parsing. Requires: `context.files` is set by then.
void add_mig_verb(CLI::App& app, VerbContext& context);

}  // namespace berth::cli
