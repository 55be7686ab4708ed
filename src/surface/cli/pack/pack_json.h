/// A plan as JSON: the keys of docs/reference/packing.md, in their order.
#pragma once

#include <string>

#include "surface/cli/pack/pack_answer.h"

namespace berth::cli {

/// One line of JSON with a newline, which planner/packing/plan_file.h can read. Rates are written exactly; absent
/// values are null; new keys go to the end. The same answer gives the same bytes.
[[nodiscard]] std::string pack_json(const PackAnswer& answer);

}  // namespace berth::cli
