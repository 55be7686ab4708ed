/// `berth hands`: the privileged process that changes GPUs for a `berth up`.
#pragma once

#include <CLI/CLI.hpp>

#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Adds the verb. `context` must outlive the parsing.
void add_hands_verb(CLI::App& app, VerbContext& context);

}  // namespace berth::cli
