/// The results of policies on one run, side by side, with their summary in words that the table and the page share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "purchase/scale/problem.h"
#include "purchase/scale/study.h"

namespace berth::scale {

/// Borrows the counts of the problem's load.
struct Comparison {
  std::string trace_name;
  Problem problem;
  std::optional<std::int64_t> micro_usd_per_replica_hour;
  std::vector<PolicyResult> results;

  /// The cost of a policy's replicas; nothing without a price.
  [[nodiscard]] std::optional<std::int64_t> micro_usd(const PolicyResult& result) const;
  /// Whether the attainment is reached.
  [[nodiscard]] bool is_enough(const PolicyResult& result) const;
  /// Null if the policy was not run.
  [[nodiscard]] const PolicyResult* result_of(Policy policy) const;
  /// The cheapest policy without hindsight that reaches the attainment; if none does, the one with most in time; null
  /// if all have hindsight.
  [[nodiscard]] const PolicyResult* recommended() const;
};

/// The share of requests in time, 0 to 1; nothing without requests.
[[nodiscard]] std::optional<double> attainment_of(const PolicyResult& result);
/// The same in percent, rounded down, so that a miss of the target never looks like a hit.
[[nodiscard]] std::optional<std::string> in_time_text(const PolicyResult& result);

/// The settings of a policy, given or found by itself: "target 0.70, hold 300 s", "12 replicas", "mean margin 2.50/s";
/// nothing if it has none.
[[nodiscard]] std::optional<std::string> setting_text(const PolicyResult& result);

/// The problem in words: the run, the replicas, the target.
[[nodiscard]] std::string question_words(const Comparison& comparison);
/// The recommendation, and its saving compared with another policy.
[[nodiscard]] std::string scale_verdict(const Comparison& comparison);
/// The assumption behind it.
[[nodiscard]] std::string scale_assumption(const Comparison& comparison);
/// The reason for a change by `berth`, in words; `before` is the number wanted until then. Requires: it has a reason.
[[nodiscard]] std::string reason_words(const WantChange& change, std::int64_t before, const Problem& problem);
/// The index of the largest step up of a policy among its changes; nothing if it made none.
[[nodiscard]] std::optional<std::size_t> largest_step_up(const PolicyResult& result);

}  // namespace berth::scale
