/// The commitments of policies and their cost as text for people.
#pragma once

#include <string>

#include "purchase/commit/study.h"

namespace berth::cli {

[[nodiscard]] std::string commit_table(const purchase::CommitComparison& comparison, bool has_colour);

}  // namespace berth::cli
