/// The charts of the page of `berth commit`.
#pragma once

#include <string>

#include "purchase/commit/study.h"

namespace berth::report {

/// Demand over time, stacked: units covered by the purchases of each plan, units on demand, and on top, hatched, units
/// paid for but not used. Below, the units bought at each hour.
[[nodiscard]] std::string coverage_figure(const purchase::CommitComparison& comparison,
                                          const purchase::CommitScore& score);
[[nodiscard]] std::string coverage_key(const purchase::PlanList& plans);

/// For each policy the cost since hour 0 minus that of the optimum: all policies, then an enlargement of those close
/// together.
[[nodiscard]] std::string excess_figures(const purchase::CommitComparison& comparison);

}  // namespace berth::report
