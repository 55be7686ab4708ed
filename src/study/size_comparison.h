/// What the answers for several policies mean beside each other: fewer GPUs, less cost, more of them used.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "study/size.h"

namespace berth::study {

/// A policy against a reference, both at their own count of GPUs.
struct SizeComparison {
  double cost_change = 0;                 ///< -0.25: a quarter less. GPUs over GPUs, so it needs no price
  std::optional<double> effective_ratio;  ///< of utilisation.effective; absent where the reference has none
};

/// Absent where `reference` was not sized or one of the two has no count, and for a policy against itself.
[[nodiscard]] std::optional<SizeComparison> compare_sizes(const SizeResult& result, const PolicySize& policy,
                                                          std::string_view reference);

/// "25% less cost than", "8% more cost than" or "the same cost as".
[[nodiscard]] std::string cost_words(double cost_change);

/// A few sentences: which policy that needs no hindsight needs fewest GPUs (ties: more goodput, then the earlier), with
/// what it does not keep and does not prove, what it costs against each reference, better or worse, and whether one
/// that works in hindsight needs fewer. A policy that breaks the scenario's isolation is named only behind one that
/// keeps it.
[[nodiscard]] std::string size_headline(const SizeResult& result);

}  // namespace berth::study
