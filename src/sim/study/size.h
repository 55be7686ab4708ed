/// How many GPUs a policy needs so that every service keeps its share of requests in time, found by replay.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "engine/policy/settings.h"
#include "sim/measure/result.h"

namespace berth::study {

struct SizeOptions {
  Decimal attainment = Decimal(99, 100);         ///< the share in time that every service must keep; in (0, 1]
  std::int64_t gpus_max = 64;                    ///< >= 1
  std::vector<std::uint64_t> seeds = {1, 2, 3};  ///< distinct, not empty; figures come from the first
};

/// The requests of a service and those in time; requests > 0.
struct ServiceAttainment {
  std::string service;
  std::int64_t in_time = 0;
  std::int64_t requests = 0;
  friend bool operator==(const ServiceAttainment&, const ServiceAttainment&) = default;
};

/// The share as "98.31%", rounded down, so that a share below a target never looks as if it met the target.
[[nodiscard]] std::string floored_percent(const ServiceAttainment& share);

/// "1 GPU", "3 GPUs".
[[nodiscard]] std::string counted_gpus(std::int64_t gpus);

/// "1 count", "3 counts".
[[nodiscard]] std::string counted_counts(std::int64_t counts);

/// One replay: a count of GPUs with a seed.
struct SeedTrial {
  bool holds = false;                      ///< every service that has requests keeps the share
  std::optional<std::string> infeasible;   ///< why the policy cannot run with that count
  std::optional<ServiceAttainment> worst;  ///< the service with the smallest share; absent without requests
  friend bool operator==(const SeedTrial&, const SeedTrial&) = default;
};

/// One count of GPUs. It holds if it does with every seed; after a seed that fails, later ones may be left out.
struct CountTrial {
  std::int64_t gpus = 0;
  bool holds = false;
  std::vector<SeedTrial> seeds;  ///< in the order of SizeOptions::seeds, those that were replayed
  friend bool operator==(const CountTrial&, const CountTrial&) = default;
};

/// The smallest share over the seeds that were replayed; nullptr if the policy cannot run, or without requests.
[[nodiscard]] const ServiceAttainment* smallest_share(const CountTrial& trial);

/// Why the policy cannot run with that count, by the first seed with a reason; nullptr if it can.
[[nodiscard]] const std::string* why_cannot_run(const CountTrial& trial);

/// The answer for one policy: either `gpus` or `infeasible` is present.
struct PolicySize {
  std::string name;
  bool is_hindsight = false;
  std::optional<std::int64_t> gpus;
  std::optional<std::string> infeasible;  ///< why no count holds, with the best share found
  bool is_smallest_proven = false;        ///< every smaller count (without `gpus`: every count) was tried and fails
  std::vector<std::optional<std::int64_t>> gpus_by_seed;  ///< see sim/study/size_search.h; empty without `gpus`
  std::optional<bool> is_stable;                          ///< see sim/study/size_search.h
  std::optional<std::int64_t> cost_micro_usd;             ///< of all `gpus` over the run; absent without a price
  std::optional<measure::PolicyResult> at_answer;  ///< the replay of `gpus` with the first seed, without its timeline
  std::vector<CountTrial> tried;                   ///< ascending
};

/// How many counts below the answer (without one: up to `gpus_max`) were not tried.
[[nodiscard]] std::int64_t untried_counts(const PolicySize& policy, std::int64_t gpus_max);

/// The smallest count tried above the answer that fails; absent if all hold. Requires: `policy.gpus`.
[[nodiscard]] std::optional<std::int64_t> failing_count_above(const PolicySize& policy);

/// The answer for a step of sim/study/size_ideas.h.
struct IdeaSize {
  std::string adds;                  ///< what the step adds to the previous one, such as "slices"
  std::vector<std::string> without;  ///< parameters set to 0
  PolicySize size;
};

/// The answers for a scenario, for tables and pages.
struct SizeResult {
  std::string scenario;
  std::string gpu_model;
  std::int64_t simulated_seconds = 0;
  Objective objective = Objective::kServices;
  SizeOptions options;
  std::optional<Decimal> usd_per_gpu_hour = std::nullopt;
  std::vector<PolicySize> policies;
  std::vector<IdeaSize> ideas;  ///< empty unless requested
};

/// The price of `gpus` GPUs for one hour in micro-dollars, rounded half to even; absent without a price.
[[nodiscard]] std::optional<std::int64_t> micro_usd_per_hour(const SizeResult& result, std::int64_t gpus);

/// Callbacks of the search, which may also stop it.
struct SizeHooks {
  /// Called from time to time with the count that is being replayed and the share of its replays that is done (0 to 1).
  /// Returns false to stop, which ends with ErrorCode::kInterrupted. May be empty.
  std::function<bool(std::string_view policy, std::int64_t gpus, double done)> progress;
};

/// The work that the replays of one policy may take for a proof: about one or two minutes of one core. One unit is a
/// service over a simulated second in each of a policy's runs, half a GPU over a simulated second, or a request.
/// Policies that plan during the run take kPlanningWork units more for each GPU and simulated second.
inline constexpr std::int64_t kSizeWorkMax = 100'000'000;
inline constexpr std::int64_t kPlanningWork = 1'500;

/// Error unless the fleet has one GPU model at one price: a count is meaningless for a mix.
[[nodiscard]] Result<void> check_sizable(const Scenario& scenario);

/// The smallest count of the fleet's GPU model with which the policy keeps every service's share in time at or above
/// the attainment, compared exactly; a service without requests keeps it. sim/study/size_search.h says how far
/// "smallest" is proven. The scenario's own count and layout are ignored. The result depends on the arguments alone; a
/// larger gpus_max never makes it larger. Costs one replay for each count and seed tried. Error if check_sizable
/// refuses, or if stopped. Requires: `policy` is one of policy::sizable_names(), the options are within their bounds.
[[nodiscard]] Result<PolicySize> size_policy(const Scenario& scenario, std::string_view policy,
                                             const SizeOptions& options, const SizeHooks& hooks,
                                             const policy::Settings& settings = {});

}  // namespace berth::study
