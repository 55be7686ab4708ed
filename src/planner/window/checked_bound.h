/// Compares a proven bound with the objective of a schedule of the same problem; no other code does so.
#pragma once

namespace berth::planner {

/// The tolerance for two sums of the same numbers, as a share of the larger one, or of 1 if both are smaller.
///
/// A bound and an objective add the same values in different orders: at most 1e6 terms (slots x samples x services x
/// variants) of one sign, each addition with a relative error of 2^-53. That is 1e-10 in the worst case; the prices of
/// a bound add as many products again. Rounding cannot explain a larger difference.
inline constexpr double kBoundTolerance = 1e-8;

/// The bound that an answer states: `proven`, or the objective if that is larger only by rounding. Fails an ENSURE if
/// the objective exceeds the bound by more, because the proof is then wrong. Requires: the schedule keeps all rules
/// under which the bound was proven (floors, too).
[[nodiscard]] double checked_bound(double proven, double objective);

}  // namespace berth::planner
