/// The charts of the page of `berth case` that have a row for each step.
#pragma once

#include <string>
#include <string_view>

#include "sim/study/case.h"

namespace berth::report {

/// "whole-peak *": with a mark if it works in hindsight.
[[nodiscard]] std::string case_step_title(const study::CaseStep& step);
/// Whether this is Berth's step that can be run live, because it decides without hindsight.
[[nodiscard]] bool is_ours(const study::CaseStep& step);

/// The cost of each step as a bar, and its saving compared with the previous step.
[[nodiscard]] std::string waterfall_figure(const study::CaseResult& result);
[[nodiscard]] std::string waterfall_key();

/// The GPU-time that each step pays for, with its allocated, busy and effective parts.
[[nodiscard]] std::string gpu_time_figure(const study::CaseResult& result);
[[nodiscard]] std::string gpu_time_key();

}  // namespace berth::report
