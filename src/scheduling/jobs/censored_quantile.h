/// Quantiles of values of which some are only known to exceed the value seen so far.
#pragma once

#include <optional>
#include <vector>

namespace berth::sched {

struct Observation {
  double value = 0;
  bool is_complete = true;  ///< otherwise the final value will be larger
};

/// The smallest value at which the product-limit estimate reaches a share (above 0, below 1) of all values; the largest
/// value seen if it never does. Nothing without a complete value. O(n log n).
///
/// Source: Kaplan and Meier, "Nonparametric estimation from incomplete observations", JASA 1958.
[[nodiscard]] std::optional<double> censored_quantile(std::vector<Observation> seen, double share);

}  // namespace berth::sched
