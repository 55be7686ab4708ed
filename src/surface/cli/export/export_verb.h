/// `berth export`: a month of a ledger in the forms that other systems read.
#pragma once

#include <CLI/CLI.hpp>

#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Adds the verb. `context` must outlive the parsing.
void add_export_verb(CLI::App& app, VerbContext& context);

}  // namespace berth::cli
