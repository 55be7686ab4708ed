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

/// The policy with the most by the yardstick, or with the fewest failed pods. It is the best only where it is ahead by
/// more than the larger standard deviation of the two over the seeds. Then the columns in which another is better by
/// more than that. Requires: at least one result.
[[nodiscard]] std::string placement_verdict(const std::vector<PolicyResult>& results);

}  // namespace berth::placement
