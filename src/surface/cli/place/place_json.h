/// The results of placement policies as JSON.
#pragma once

#include <string>
#include <vector>

#include "scheduling/placement/problem.h"
#include "scheduling/placement/study.h"

namespace berth::cli {

[[nodiscard]] std::string place_json(const placement::Problem& problem, const placement::StudyOptions& study,
                                     const std::vector<placement::PolicyResult>& results);

}  // namespace berth::cli
