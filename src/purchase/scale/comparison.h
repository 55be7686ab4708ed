/// What policies did on one run, side by side, and what that comes to in words that the table and the page share.
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

  /// What a policy's replicas cost; nothing without a price.
  [[nodiscard]] std::optional<std::int64_t> micro_usd(const PolicyResult& result) const;
  /// Whether the attainment is reached.
  [[nodiscard]] bool is_enough(const PolicyResult& result) const;
  /// Null if the policy was not run.
  [[nodiscard]] const PolicyResult* result_of(Policy policy) const;
  /// The cheapest policy without hindsight that reaches the attainment; if none does, the one with most in time; null
  /// if all have hindsight.
  [[nodiscard]] const PolicyResult* recommended() const;
};

/// The share in time; nothing without requests.
[[nodiscard]] std::optional<double> attainment_of(const PolicyResult& result);
/// The same in per cent, rounded down, so that what is below a target does not look like it.
[[nodiscard]] std::optional<std::string> in_time_text(const PolicyResult& result);

/// How a policy is set, or what it found by itself: "target 0.70, hold 300 s", "12 replicas", "mean margin 2.50/s";
/// nothing where nothing is.
[[nodiscard]] std::optional<std::string> setting_text(const PolicyResult& result);

/// What was to be served: the run, the replicas, the target.
[[nodiscard]] std::string question_words(const Comparison& comparison);
/// What to do and what it saves against what.
[[nodiscard]] std::string scale_verdict(const Comparison& comparison);
/// By which assumption.
[[nodiscard]] std::string scale_assumption(const Comparison& comparison);
/// Why a change of `berth` was made, in words; `before` is the number wanted until then. Requires: it has a reason.
[[nodiscard]] std::string reason_words(const WantChange& change, std::int64_t before, const Problem& problem);
/// The index of the largest step up of a policy among its changes; nothing if it made none.
[[nodiscard]] std::optional<std::size_t> largest_step_up(const PolicyResult& result);

}  // namespace berth::scale
