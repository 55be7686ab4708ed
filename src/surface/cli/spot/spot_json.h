/// The cost of policies on spot and on-demand instances as JSON.
#pragma once

#include <string>
#include <vector>

#include "purchase/spot/study.h"

namespace berth::cli {

[[nodiscard]] std::string spot_json(const std::vector<purchase::SpotScore>& scores, const purchase::SpotStudy& study);

/// A line of --runs: what the run held in each tick, until its end.
[[nodiscard]] std::string spot_run_line(const purchase::SpotRun& run, const purchase::Market& market);

}  // namespace berth::cli
