/// What a case comes to, in words that the table and the page share.
#pragma once

#include <string>

#include "sim/study/case.h"

namespace berth::study {

/// What to do, what it costs and what that saves against both baselines; or why nothing can be said.
[[nodiscard]] std::string case_verdict(const CaseResult& result);

/// By what assumptions.
[[nodiscard]] std::string case_assumption(const CaseResult& result);

/// Why the case is small; empty if it is not.
[[nodiscard]] std::string case_small_words(const CaseResult& result);

/// A share in time as "98.99%": rounded down, so that a share below a target never looks as if it met it.
[[nodiscard]] std::string floored_share(double share);

}  // namespace berth::study
