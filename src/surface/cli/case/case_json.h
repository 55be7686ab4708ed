/// The result of a case as JSON.
#pragma once

#include <string>

#include "sim/study/case.h"

namespace berth::cli {

[[nodiscard]] std::string case_json(const study::CaseResult& result);

}  // namespace berth::cli
