/// The page of `berth case`: the saving of each step, the use of GPU-time, and arrivals against capacity over time, as
/// one self-contained HTML page without script.
#pragma once

#include <cstddef>
#include <string>

#include "domain/values/scenario.h"
#include "sim/study/case.h"

namespace berth::report {

/// The page, UTF-8: the answer in words, the waterfall, all figures side by side, the funnel of utilisation, the GPUs
/// paid for over time, and for each service its arrivals against its capacity under each step. A step that is not
/// possible is shown with the reason. Names are escaped; absent figures are a dash. The same arguments give the same
/// bytes. Requires: `result` is a case of `scenario`, with at least one step.
[[nodiscard]] std::string render_case_report(const Scenario& scenario, const study::CaseResult& result);

/// The maximum number of services whose load is drawn.
inline constexpr std::size_t kCaseServicesMax = 8;

}  // namespace berth::report
