/// A proven bound beside the objective of a schedule of the same problem: the one place that compares them.
#pragma once

namespace berth::planner {

/// What two sums of the same numbers may differ by, as a share of the larger of them, and at least of 1.
///
/// A bound and an objective add the same values in different orders: at most 1e6 terms (slots x samples x services x
/// variants) of one sign, each addition with a relative error of 2^-53. That is 1e-10 in the worst case; the prices of
/// a bound take part in as many products again. No rounding explains more.
inline constexpr double kBoundTolerance = 1e-8;

/// The bound that an answer states: `proven`, or the objective where that is larger by rounding alone. Ends the program
/// (ENSURE) where the objective exceeds the bound by more: then the proof is wrong, and nothing that depends on it
/// holds. Requires: a schedule that keeps all that binds the schedules of which the bound is proven (floors, too).
[[nodiscard]] double checked_bound(double proven, double objective);

}  // namespace berth::planner
