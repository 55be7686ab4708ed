/// A plan with its reasons as a table, for people.
#pragma once

#include <string>

#include "domain/values/scenario.h"
#include "engine/loop/plan_answer.h"

namespace berth::cli {

[[nodiscard]] std::string plan_table(const Scenario& scenario, const PlanAnswer& answer, bool has_colour);

}  // namespace berth::cli
