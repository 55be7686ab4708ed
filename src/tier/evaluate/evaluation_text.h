/// An evaluation as JSON: its figures, and a line per case of ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tier/evaluate/evaluate.h"

namespace berth::tier {

/// `{"berth":1,"format","cases","policies":[...]}` in one line. Figures are the doubles nearest to the exact values.
[[nodiscard]] std::string evaluation_json(std::string_view format, const Evaluation& evaluation, int measurements_max);

/// A line per case of the first policy: `{"group","workload","target","anchor","measured","chosen","probability",
/// "cost","best","best_cost","kept"}`. `target` is a number for jobs, an object for services; `cost` is what the ratio
/// counts.
[[nodiscard]] std::vector<std::string> evaluation_log(const TierTable& table, const Evaluation& evaluation);

/// The figures of all policies, in their order.
[[nodiscard]] std::vector<PolicyFigures> all_figures(const Evaluation& evaluation);

}  // namespace berth::tier
