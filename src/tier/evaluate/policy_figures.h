/// The figures of a policy over all cases.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "tier/evaluate/test_run.h"
#include "tier/evaluate/truth.h"

namespace berth::tier {

/// The cases whose stated probability is in one bin: from `from` to below the next bin's, the last up to 1 inclusive.
struct CalibrationBin {
  double from = 0;
  std::size_t case_count = 0;
  double stated = 0;  ///< mean probability; 0 without cases
  double kept = 0;    ///< share of cases that kept the target; 0 without cases
};

inline constexpr std::array kCalibrationFrom = {0.0, 0.5, 0.8, 0.95};

struct PolicyFigures {
  std::string policy;
  Decimal ratio_mean;
  Decimal ratio_p50;  ///< nearest rank
  Decimal ratio_p95;
  Decimal missed;  ///< share of the cases
  Decimal measurements_mean;
  std::vector<CalibrationBin> calibration = {};  ///< empty if the policy states no probability
};

/// Ratios are the charged cost over the least cost that keeps the target. Exact but for `calibration`. Requires: as
/// many runs as truths, at least one. O(n log n), and one product of all denominators.
[[nodiscard]] PolicyFigures figures_of(std::string policy, std::span<const CaseTruth> truths,
                                       std::span<const TestRun> runs);

}  // namespace berth::tier
