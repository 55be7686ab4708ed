/// A plan with its reasons as a table, for people.
#pragma once

#include <string>

#include "domain/values/scenario.h"
#include "engine/codec/plan_answer.h"

namespace berth::cli {

[[nodiscard]] std::string plan_table(const Scenario& scenario, const codec::PlanAnswer& answer, bool has_colour);

}  // namespace berth::cli
