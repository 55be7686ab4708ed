/// The commitments of policies and their cost as JSON.
#pragma once

#include <string>

#include "purchase/commit/study.h"

namespace berth::cli {

[[nodiscard]] std::string commit_json(const purchase::CommitComparison& comparison);

}  // namespace berth::cli
