/// `berth pack`: its options on the command line.
#pragma once

#include "surface/cli/pack_run.h"
#include "surface/cli/verb.h"

namespace CLI {
class App;
}

namespace berth::cli {

/// Adds the verb `pack` to the program. Parsing runs it: text and status go to `context`, which must outlive the
/// parsing. Requires: `context.files` is set by then.
void add_pack_verb(CLI::App& app, VerbContext& context, const PackReportRenderer& render_report);

}  // namespace berth::cli
