/// The result of a case as text for people.
#pragma once

#include <string>

#include "sim/study/case.h"

namespace berth::cli {

[[nodiscard]] std::string case_table(const study::CaseResult& result, bool has_colour);

}  // namespace berth::cli
