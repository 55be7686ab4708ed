/// The verbs that talk to a running `berth up`: their options, their help, and what they run.
#pragma once

#include "surface/cli/shared/verb.h"

namespace CLI {
class App;
}

namespace berth::cli {

/// Adds the verbs, and to `plan` what it does with a running world. Requires: `plan` is added. `context` must outlive
/// the parsing.
void add_client_verbs(CLI::App& app, VerbContext& context);

}  // namespace berth::cli
