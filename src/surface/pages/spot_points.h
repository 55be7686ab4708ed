/// The cost of every run of a spot study, as points.
#pragma once

#include <string>
#include <vector>

#include "purchase/spot/study.h"

namespace berth::report {

/// How the points are arranged, in words.
[[nodiscard]] std::string spot_points_lead(const purchase::SpotStudy& study,
                                           const std::vector<purchase::SpotScore>& scores);

/// A row of points for each policy, or for each policy and deadline if there are few, with the mean next to it.
[[nodiscard]] std::string spot_points_figure(const purchase::SpotStudy& study,
                                             const std::vector<purchase::SpotScore>& scores);

}  // namespace berth::report
