/// What policies committed to and what that cost, as text for people.
#pragma once

#include <string>

#include "purchase/commit/study.h"

namespace berth::cli {

[[nodiscard]] std::string commit_table(const purchase::CommitComparison& comparison, bool has_colour);

}  // namespace berth::cli
