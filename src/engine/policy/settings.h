/// The parameters of policies, with defaults and names, for tuning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "engine/loop/planner_options.h"
#include "engine/rivals/rival_options.h"

namespace berth::policy {

/// The knowledge of the policy `clairvoyant` beyond the number of requests of each service in the whole run.
struct ClairvoyantOptions {
  int loads = 1;  ///< 0: the requests of each second are not known but forecast, as by `berth`
};

struct Settings {
  partition::EkyaOptions ekya;
  partition::AstraeaOptions astraea;
  partition::MigratorOptions migrator;
  PlannerOptions berth;  ///< of `clairvoyant` too
  ClairvoyantOptions clairvoyant;
};

/// Sets one parameter from "policy.parameter=value". Errors: an unknown parameter (the message lists the existing
/// ones), a value that is not a number, is negative, or is fractional where a whole number is required.
[[nodiscard]] Result<void> set_parameter(Settings& settings, std::string_view assignment);

/// "ekya.period_seconds" ...: all parameters, in order of policies.
[[nodiscard]] std::vector<std::string> parameter_names();

}  // namespace berth::policy
