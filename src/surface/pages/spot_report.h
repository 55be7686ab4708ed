/// The page of `berth spot`: what policies pay for a job on spot and on-demand instances, as one self-contained HTML
/// page without script.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "purchase/spot/study.h"

namespace berth::report {

/// The page, UTF-8: the answer in words, the policies side by side, the cost of every run as a point, and the run in
/// which `berth` gains and the one in which it loses most against the best rival, tick by tick. Names are escaped;
/// absent figures are a dash. Many runs are thinned out and many ticks share a column of a strip, and the page says so.
/// The same arguments give the same bytes. Requires: the scores are of the study, with at least one policy.
[[nodiscard]] std::string render_spot_report(const std::string& windows, const purchase::SpotStudy& study,
                                             const std::vector<purchase::SpotScore>& scores);

/// The maximum number of runs of a policy drawn as points.
inline constexpr std::size_t kSpotPointsMax = 3'000;

}  // namespace berth::report
