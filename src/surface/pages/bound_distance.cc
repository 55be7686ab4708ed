#include "surface/pages/bound_distance.h"

#include <fmt/format.h>

#include <optional>

namespace berth::report {
namespace {

/// The goodput that the objective names, from figures or a bound.
template <class Goodputs>
std::optional<double> asked_of(Objective objective, const Goodputs& goodputs) {
  return objective == Objective::kServices ? goodputs.goodput_mean_of_services : goodputs.goodput;
}

}  // namespace

void write_bound(json::Writer& json, const study::ReplayResult& result) {
  json.open_object().member("any", asked_of(result.objective, result.bound.any));
  json.member("unshared", asked_of(result.objective, result.bound.without_sharing)).close_object();
}

std::string bound_distance(const study::ReplayResult& result, const measure::PolicyResult& policy) {
  constexpr double kSeen = 0.0005;  // the rounding error of three digits
  if (policy.infeasible) return "";
  const std::optional<double> any = asked_of(result.objective, result.bound.any);
  const std::optional<double> unshared = asked_of(result.objective, result.bound.without_sharing);
  const std::optional<double> goodput = asked_of(result.objective, policy.figures);
  const bool shares = policy.timeline.shares_slices || !unshared;
  const std::optional<double> limit = shares ? any : unshared;
  if (!limit || !goodput || *limit <= 0) return "";
  if (*limit - *goodput < kSeen) return "at the bound: no policy can exceed it";
  const bool is_own = !shares && *any - *limit >= kSeen;
  return fmt::format("{:.3f} below the bound{}: {:.1f} % of it", *limit - *goodput, is_own ? " without sharing" : "",
                     100 * *goodput / *limit);
}

}  // namespace berth::report
