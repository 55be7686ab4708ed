/// The subcommands of `berth profile` that work on its database.
#pragma once

#include <vector>

#include "surface/cli/shared/command_line.h"

namespace berth::cli {

/// list, show, import, export, observe.
[[nodiscard]] std::vector<Verb> profile_book_verbs();

}  // namespace berth::cli
