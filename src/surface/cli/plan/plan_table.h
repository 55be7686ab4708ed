/// A plan with its reasons as a table, for people.
#pragma once

#include <string>

#include "codec/plan_answer.h"
#include "domain/scenario.h"

namespace berth::cli {

[[nodiscard]] std::string plan_table(const Scenario& scenario, const codec::PlanAnswer& answer, bool has_colour);

}  // namespace berth::cli
