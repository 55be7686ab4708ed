/// Which policy is best, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduling/placement/study.h"

namespace berth::placement {

/// The figure by which policies are compared: allocated with churn, at 130 % demand, or at 100 %; the first that all
/// have.
struct Yardstick {
  std::string name;  ///< "allocated at 130 % demand"
  std::optional<Summary> PolicyResult::* figure;
};
/// Nothing if they have none in common.
[[nodiscard]] std::optional<Yardstick> yardstick_of(const std::vector<PolicyResult>& results);

/// One sentence: the best policy, and by how much. Requires: at least one result.
[[nodiscard]] std::string placement_verdict(const std::vector<PolicyResult>& results);

}  // namespace berth::placement
