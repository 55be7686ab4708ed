/// The charts of the page of `berth scale`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "purchase/scale/comparison.h"

namespace berth::report {

/// Seconds of a run.
struct ScaleSpan {
  std::int64_t from_second = 0;
  std::int64_t seconds = 0;
};

/// A chart for each policy, all with the same scales.
[[nodiscard]] std::string scale_figures(const scale::Comparison& comparison,
                                        const std::vector<const scale::PolicyResult*>& results, ScaleSpan span);

[[nodiscard]] std::string scale_key();

}  // namespace berth::report
