/// A choice of a GPU model as JSON.
#pragma once

#include "base/json/writer.h"
#include "domain/values/tier_rule.h"

namespace berth::tier {

/// The members `model`, `predicted`, `probability`, `usd_per_hour`, `reason` and `rejected` (a list of `{model, why}`)
/// of an open object.
void put_choice(json::Writer& json, const TierChoice& choice);

}  // namespace berth::tier
