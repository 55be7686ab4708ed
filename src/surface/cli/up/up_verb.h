/// `berth up`: a running engine on a simulated fleet, with its API.
#pragma once

#include <CLI/CLI.hpp>

#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Adds the verb. `context` must outlive the parsing.
void add_up_verb(CLI::App& app, VerbContext& context);

}  // namespace berth::cli
