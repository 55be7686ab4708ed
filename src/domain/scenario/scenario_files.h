/// A scenario as the files that `domain/scenario/load.h` reads.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "domain/values/scenario.h"

namespace berth::scenario {

/// The path of the scenario file itself in the result.
inline constexpr std::string_view kScenarioPath = "scenario.yaml";

/// The texts of the scenario, profile and arrival files by path, relative to a common folder. Reading them gives an
/// equal scenario, except for its name and the models' names in tables. `remarks` become comments at the beginning.
/// Requires: the arrivals are CountTraces at scale 1, and slices of the layout have at most one holder.
[[nodiscard]] std::map<std::string, std::string> scenario_files(const Scenario& scenario,
                                                                const std::vector<std::string>& remarks);

}  // namespace berth::scenario
