/// `berth config`: what the configuration file of `berth up` may hold.
#pragma once

#include <CLI/CLI.hpp>

#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Adds the verb with its subcommands. `context` must outlive the parsing.
void add_config_verb(CLI::App& app, VerbContext& context);

}  // namespace berth::cli
