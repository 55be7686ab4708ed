/// The keys of a scenario that say on which GPU models its services run (domain/values/tier_rule.h).
#pragma once

#include "base/yaml/reader.h"
#include "domain/scenario/detail/sources.h"
#include "domain/values/scenario.h"

namespace berth::scenario::detail {

/// `tier` and `known_on` of a service, whose tables and pins are read. Requires: the scenario's fleet is read.
[[nodiscard]] TierRule read_tier_rule(const yaml::Value& service, const Scenario& scenario, const ServiceSpec& spec);

/// `tier_model` and `tier_sure` of a file.
[[nodiscard]] TierSettings read_tier_settings(const yaml::Value& root, Sources& sources);

/// Fails at `layout` if it gives a service a slice on another model than its `tier.gpu`.
void check_tiers_of_layout(const yaml::Value& layout, const Scenario& scenario);

}  // namespace berth::scenario::detail
