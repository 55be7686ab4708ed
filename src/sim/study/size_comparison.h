/// Compares the answers for several policies: GPUs, cost, effective utilisation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/study/size.h"

namespace berth::study {

/// A policy against a reference, both at their own count of GPUs.
struct SizeComparison {
  double cost_change = 0;                 ///< -0.25: a quarter less. A ratio of GPU counts, so it needs no price
  std::optional<double> effective_ratio;  ///< of utilisation.effective; absent where the reference has none
};

/// Absent if `reference` was not sized, if one of the two has no count, or if they are the same policy.
[[nodiscard]] std::optional<SizeComparison> compare_sizes(const SizeResult& result, const PolicySize& policy,
                                                          std::string_view reference);

/// "25% less cost than", "8% more cost than" or "the same cost as".
[[nodiscard]] std::string cost_words(double cost_change);

/// A few sentences: which policy without hindsight needs fewest GPUs (ties: more goodput, then the earlier), which
/// constraints it does not keep, how far the count is proven, its cost compared with each reference, and whether a
/// policy with hindsight needs fewer. A policy that breaks the scenario's isolation is named only after one that keeps
/// it.
[[nodiscard]] std::string size_headline(const SizeResult& result);

}  // namespace berth::study
