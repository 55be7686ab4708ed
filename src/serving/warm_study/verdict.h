/// What a study of warm pools says in a sentence.
#pragma once

#include <string>
#include <vector>

#include "serving/warm_study/policies.h"
#include "serving/warm_study/problem.h"

namespace berth::warm {

/// The best policy without hindsight that is not ours, by cost in minutes, with a memory by cold starts; null if none
/// was run. Ties: the first.
[[nodiscard]] const PolicyResult* best_rival(const Problem& problem, const std::vector<PolicyResult>& results);

/// The problem in words.
[[nodiscard]] std::string warm_question(const Problem& problem);
/// The assumption behind the figures.
[[nodiscard]] std::string warm_assumption();
/// What `berth` saves, against what. Where apps are weighed alike: the avoidable share at no more idle minutes than
/// `hybrid`, if both were run.
[[nodiscard]] std::string warm_verdict(const Problem& problem, const std::vector<PolicyResult>& results);

}  // namespace berth::warm
