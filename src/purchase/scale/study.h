/// All policies of `berth scale` by name, and the result of each on a run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "purchase/scale/forecast_policy.h"
#include "purchase/scale/problem.h"
#include "purchase/scale/rules.h"
#include "purchase/scale/run.h"

namespace berth::scale {

enum class Policy { kTargetTracking, kBands, kTuned, kFixed, kBerth };
inline constexpr std::array<Policy, 5> kPolicies = {Policy::kTargetTracking, Policy::kBands, Policy::kTuned,
                                                    Policy::kFixed, Policy::kBerth};
/// Such as "target-tracking".
[[nodiscard]] std::string_view name_of(Policy policy);
/// The policy of a name; nothing if there is none.
[[nodiscard]] std::optional<Policy> policy_named(std::string_view name);
/// Whether the policy is chosen with knowledge of the whole run.
[[nodiscard]] bool is_hindsight(Policy policy);

/// A second in which the number a policy wants changes; second 0 is always one.
struct WantChange {
  std::int64_t second = 0;
  std::int64_t want = 0;
  std::optional<Decision> reason;  ///< of `berth`

  friend bool operator==(const WantChange&, const WantChange&) = default;
};

/// The settings that `berth` found by itself: means over the seconds of the run.
struct Found {
  double forecast = 0;  ///< requests per second
  double quantile = 0;
  double margin = 0;  ///< requests per second

  friend bool operator==(const Found&, const Found&) = default;
};

struct PolicyResult {
  Policy policy = Policy::kBerth;
  RunResult run;
  std::optional<Tracking> tracking;      ///< the parameters of target tracking, tuned or not
  std::optional<std::int64_t> replicas;  ///< the constant number of `fixed`
  std::optional<Found> found;            ///< of `berth`; nothing for an empty run
  std::vector<WantChange> changes;

  friend bool operator==(const PolicyResult&, const PolicyResult&) = default;
};

/// Serves the run with a policy. Equal problems give equal results.
[[nodiscard]] PolicyResult run_policy(const Problem& problem, Policy policy);
/// The same; nothing if `progress` returned false.
[[nodiscard]] std::optional<PolicyResult> run_policy(const Problem& problem, Policy policy, const Progress& progress);

}  // namespace berth::scale
