/// A plan with its reasons as JSON, for programs: the keys of docs/reference/plan.md.
#pragma once

#include <string>

#include "domain/values/scenario.h"
#include "engine/loop/plan_answer.h"

namespace berth {

/// An indented document with a newline at its end. The same answer gives the same bytes.
[[nodiscard]] std::string plan_json(const Scenario& scenario, const PlanAnswer& answer);

}  // namespace berth
