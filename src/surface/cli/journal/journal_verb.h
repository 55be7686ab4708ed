/// `berth journal`: checks and prints what a `berth up` has recorded, whether or not it is running.
#pragma once

#include <CLI/CLI.hpp>

#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Adds the verb with its subcommands. `context` must outlive the parsing.
void add_journal_verb(CLI::App& app, VerbContext& context);

}  // namespace berth::cli
