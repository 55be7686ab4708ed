/// What was profiled of a model, as a workload of the table of tiers.
#pragma once

#include <span>

#include "base/core/result.h"
#include "domain/profile_book/in_force.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// The points of each tier are those of the places whose label is its GPU and profile ("A30-24GB:1g.6gb"), or whose
/// label or device is its name. Of two such places the point of the newest run counts. `group` and `name` are the
/// model's name; of jobs the batch is 1. The workload may have no point on any tier. Errors: a figure that is no
/// decimal.
[[nodiscard]] Result<TierWorkload> workload_of(const profile_book::ModelInForce& model, std::span<const Tier> tiers);

}  // namespace berth::tier
