/// The page of `berth warm`: cold starts against idle time, and one app over time, as one self-contained HTML page
/// without script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serving/warm_study/policies.h"
#include "serving/warm_study/problem.h"

namespace berth::report {

/// The page, UTF-8: the answer in words, the policies side by side, the cold share of each against its idle minutes
/// with ours at several prices as a curve, and the invocations and loaded minutes of one app under `berth`. Charts
/// without figures are left out. Names are escaped; absent figures are a dash. The same results give the same bytes.
[[nodiscard]] std::string render_warm_report(std::string_view trace_name, const warm::Problem& problem,
                                             const std::vector<warm::PolicyResult>& results);

}  // namespace berth::report
