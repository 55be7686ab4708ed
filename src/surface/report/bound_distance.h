/// How far a policy is from what no policy can pass.
#pragma once

#include <string>

#include "study/replay.h"
#include "surface/report/page_json.h"

namespace berth::report {

/// {"any", "unshared"}: the bounds of the goodput that the scenario asks for, at all and where services are kept apart;
/// null where there is none.
[[nodiscard]] Json bound_json(const study::ReplayResult& result);

/// Such as "0.021 below the bound: 97.6 % of it": against the bound for policies that keep services apart where this
/// one does ("below the bound without sharing", where that differs), else against that for all. Empty where the policy
/// or the bound has no figure.
[[nodiscard]] std::string bound_distance(const study::ReplayResult& result, const measure::PolicyResult& policy);

}  // namespace berth::report
