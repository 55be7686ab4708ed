/// The results of placement policies as text for people.
#pragma once

#include <string>
#include <vector>

#include "scheduling/placement/problem.h"
#include "scheduling/placement/study.h"

namespace berth::cli {

[[nodiscard]] std::string place_table(const placement::Problem& problem, const placement::StudyOptions& study,
                                      const std::vector<placement::PolicyResult>& results, bool has_colour);

}  // namespace berth::cli
