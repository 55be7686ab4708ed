/// A plan as JSON: its decisions, its phase and the state of each of its actions (docs/how_to/approval.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "live/session/plan_log.h"
#include "surface/api/objects.h"

namespace berth::api {

/// With the first `actions_max` of its actions.
[[nodiscard]] std::string plan_object(const ObjectFormat& format, const live::PlanStatus& plan,
                                      std::size_t actions_max = SIZE_MAX);
/// Adds the members of a plan to an open object.
void put_plan(json::Writer& json, const ObjectFormat& format, const live::PlanStatus& plan, std::size_t actions_max);
/// The same with the actions of these indices. Requires: they are in range.
void put_plan(json::Writer& json, const ObjectFormat& format, const live::PlanStatus& plan,
              std::span<const std::size_t> actions);

}  // namespace berth::api
