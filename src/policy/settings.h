/// The parameters of the policies that have some, with their defaults, by name: what tuning turns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/planner_options.h"
#include "partition/rival_options.h"

namespace berth::policy {

/// What the policy `clairvoyant` knows beyond the requests that each service gets in the whole run.
struct ClairvoyantOptions {
  int loads = 1;  ///< 0: not the requests of each second; they are forecast, as by `berth`
};

struct Settings {
  partition::EkyaOptions ekya;
  partition::AstraeaOptions astraea;
  partition::MigratorOptions migrator;
  PlannerOptions berth;  ///< of `clairvoyant` too
  ClairvoyantOptions clairvoyant;
};

/// Sets one parameter from "policy.parameter=value". Errors: no such parameter (those that there are are named), a
/// value that is not a number, is negative or, where whole ones are wanted, is not whole.
[[nodiscard]] Result<void> set_parameter(Settings& settings, std::string_view assignment);

/// "ekya.period_seconds" ...: all parameters, in order of policies.
[[nodiscard]] std::vector<std::string> parameter_names();

}  // namespace berth::policy
