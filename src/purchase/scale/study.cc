#include "purchase/scale/study.h"

#include <algorithm>

#include "purchase/scale/hindsight.h"

namespace berth::scale {
namespace {

constexpr std::int64_t kProgressSeconds = 600;

/// Serves the run and records each change of the number wanted. `decide` returns a Decision. Returns whether the run
/// was completed.
template <class Decide>
bool serve_logged(const Problem& problem, std::int64_t ready, const Progress& progress, PolicyResult& result,
                  Decide&& decide) {
  const bool has_reason = result.policy == Policy::kBerth;
  std::optional<std::int64_t> before;
  Service service(problem, 0, ready);
  const std::int64_t seconds = problem.load.seconds();
  for (std::int64_t second = 0; second < seconds; ++second) {
    if (progress && second % kProgressSeconds == 0 &&
        !progress(static_cast<double>(second) / static_cast<double>(seconds))) {
      return false;
    }
    const Decision decision = decide(service.begin());
    if (decision.replicas != before) {
      result.changes.push_back(
          {.second = second, .want = decision.replicas, .reason = has_reason ? std::optional(decision) : std::nullopt});
    }
    before = decision.replicas;
    service.end(decision.replicas);
  }
  result.run = service.result();
  return true;
}

bool serve_tracking(const Problem& problem, Tracking tracking, const Progress& progress, PolicyResult& result) {
  TargetTracking rule(problem, tracking);
  result.tracking = tracking;
  return serve_logged(problem, initial_replicas(problem), progress, result,
                      [&](const Moment& moment) { return Decision{.replicas = rule.want(moment)}; });
}

bool serve_tuned(const Problem& problem, const Progress& progress, PolicyResult& result) {
  const auto tuned = tuned_tracking(problem, progress);
  return tuned && serve_tracking(problem, tuned->tracking, {}, result);
}

bool serve_bands(const Problem& problem, const Progress& progress, PolicyResult& result) {
  return serve_logged(problem, initial_replicas(problem), progress, result,
                      [&](const Moment& moment) { return Decision{.replicas = want_of_bands(problem, moment)}; });
}

bool serve_fixed(const Problem& problem, const Progress& progress, PolicyResult& result) {
  const std::int64_t replicas = smallest_fixed(problem).replicas;
  result.replicas = replicas;
  return serve_logged(problem, replicas, progress, result,
                      [=](const Moment&) { return Decision{.replicas = replicas}; });
}

bool serve_berth(const Problem& problem, const Progress& progress, PolicyResult& result) {
  const std::int64_t ready = initial_replicas(problem);
  ForecastPolicy policy(problem, ready);
  Found sums;
  const bool is_done = serve_logged(problem, ready, progress, result, [&](const Moment& moment) {
    const Decision decision = policy.want(moment);
    sums.forecast += decision.forecast;
    sums.quantile += decision.quantile;
    sums.margin += decision.margin;
    return decision;
  });
  const auto seconds = static_cast<double>(problem.load.seconds());
  if (seconds > 0) {
    result.found = Found{
        .forecast = sums.forecast / seconds, .quantile = sums.quantile / seconds, .margin = sums.margin / seconds};
  }
  return is_done;
}

bool serve(const Problem& problem, const Progress& progress, PolicyResult& result) {
  switch (result.policy) {
    case Policy::kTargetTracking:
      return serve_tracking(problem, {}, progress, result);
    case Policy::kBands:
      return serve_bands(problem, progress, result);
    case Policy::kTuned:
      return serve_tuned(problem, progress, result);
    case Policy::kFixed:
      return serve_fixed(problem, progress, result);
    case Policy::kBerth:
      return serve_berth(problem, progress, result);
  }
  return false;
}

}  // namespace

std::string_view name_of(Policy policy) {
  switch (policy) {
    case Policy::kTargetTracking:
      return "target-tracking";
    case Policy::kBands:
      return "bands";
    case Policy::kTuned:
      return "tuned";
    case Policy::kFixed:
      return "fixed";
    case Policy::kBerth:
      return "berth";
  }
  return "";
}

std::optional<Policy> policy_named(std::string_view name) {
  const auto named = std::find_if(kPolicies.begin(), kPolicies.end(), [&](Policy p) { return name_of(p) == name; });
  return named == kPolicies.end() ? std::nullopt : std::optional(*named);
}

bool is_hindsight(Policy policy) { return policy == Policy::kTuned || policy == Policy::kFixed; }

PolicyResult run_policy(const Problem& problem, Policy policy) { return run_policy(problem, policy, {}).value(); }

std::optional<PolicyResult> run_policy(const Problem& problem, Policy policy, const Progress& progress) {
  PolicyResult result{.policy = policy, .run = {}, .tracking = {}, .replicas = {}, .found = {}, .changes = {}};
  if (!serve(problem, progress, result)) return std::nullopt;
  return result;
}

}  // namespace berth::scale
