/// The data that the page draws, as JSON for its <script> element.
#pragma once

#include <string>

#include "domain/values/scenario.h"
#include "sim/study/replay.h"

namespace berth::report {

/// One JSON object; `<` is written as \u003c, so no name in it can end the element. Series are rounded to five
/// significant digits. Absent figures are null. The limits of report.h hold.
[[nodiscard]] std::string page_figures(const Scenario& scenario, const study::ReplayResult& result);

}  // namespace berth::report
