/// The charts of the page of `berth case` that have a row for each step.
#pragma once

#include <string>
#include <string_view>

#include "sim/study/case.h"

namespace berth::report {

/// "whole-peak *": with a mark if it works in hindsight.
[[nodiscard]] std::string case_step_title(const study::CaseStep& step);
/// The step that can be had, as it decides without hindsight.
[[nodiscard]] bool is_ours(const study::CaseStep& step);

/// The cost of each step as a bar, and what it saves compared with the step before it.
[[nodiscard]] std::string waterfall_figure(const study::CaseResult& result);
[[nodiscard]] std::string waterfall_key();

/// The GPU-time that each step pays for, and within it what is allocated, busy and effective.
[[nodiscard]] std::string gpu_time_figure(const study::CaseResult& result);
[[nodiscard]] std::string gpu_time_key();

}  // namespace berth::report
