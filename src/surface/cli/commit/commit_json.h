/// What policies committed to and what that cost, as JSON.
#pragma once

#include <string>

#include "purchase/commit/study.h"

namespace berth::cli {

[[nodiscard]] std::string commit_json(const purchase::CommitComparison& comparison);

}  // namespace berth::cli
