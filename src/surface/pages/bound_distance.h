/// The distance of a policy from the bound, which no policy can exceed.
#pragma once

#include <string>

#include "sim/study/replay.h"
#include "surface/pages/page_json.h"

namespace berth::report {

/// Writes {"any", "unshared"}: the bounds on the goodput that the scenario's objective names, for all policies and for
/// those that keep services apart; null if there is none.
void write_bound(json::Writer& json, const study::ReplayResult& result);

/// Such as "0.021 below the bound: 97.6 % of it". A policy that keeps services apart is compared with the bound for
/// such policies ("below the bound without sharing", if that differs), others with the bound for all. Empty if the
/// policy or the bound has no figure.
[[nodiscard]] std::string bound_distance(const study::ReplayResult& result, const measure::PolicyResult& policy);

}  // namespace berth::report
