/// `berth cost`: what things cost, and why.
#pragma once

#include <CLI/CLI.hpp>

#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Adds the verb. `context` must outlive the parsing.
void add_cost_verb(CLI::App& app, VerbContext& context);

}  // namespace berth::cli
