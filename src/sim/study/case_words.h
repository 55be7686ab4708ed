/// The results of a case in words, for the table and the page.
#pragma once

#include <string>

#include "sim/study/case.h"

namespace berth::study {

/// What to do, what it costs and what that saves against both baselines; or why there is no answer.
[[nodiscard]] std::string case_verdict(const CaseResult& result);

/// The assumptions of the case.
[[nodiscard]] std::string case_assumption(const CaseResult& result);

/// Why the case is small; empty if it is not.
[[nodiscard]] std::string case_small_words(const CaseResult& result);

/// A share in time as "98.99%": rounded down, so that a share below a target never looks as if it met it.
[[nodiscard]] std::string floored_share(double share);

}  // namespace berth::study
