/// The charts of the page of `berth case` over time: the GPUs paid for, and each service's arrivals against capacity.
#pragma once

#include <string>

#include "domain/values/scenario.h"
#include "sim/study/case.h"

namespace berth::report {

/// The GPUs that each step pays for, over time, on one scale; names and means at the ends of the lines.
[[nodiscard]] std::string gpu_count_figure(const study::CaseResult& result);

/// For each service, a picture with a strip for each step that ran: arrivals and capacity, all on one scale.
[[nodiscard]] std::string load_figures(const Scenario& scenario, const study::CaseResult& result);
[[nodiscard]] std::string load_key();

}  // namespace berth::report
