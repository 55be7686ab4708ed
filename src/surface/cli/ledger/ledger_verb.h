/// `berth ledger`: who used what, and what it cost, to the micro-dollar.
#pragma once

#include <CLI/CLI.hpp>

#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Adds the verb with its subcommands. `context` must outlive the parsing.
void add_ledger_verb(CLI::App& app, VerbContext& context);

}  // namespace berth::cli
