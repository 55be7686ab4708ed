/// A plan as a table for people.
#pragma once

#include <string>

#include "surface/cli/pack/pack_answer.h"

namespace berth::cli {

/// The GPUs or the cost of the plan and its proven bound, a line for each GPU (consecutive equal GPUs share one) and
/// each demand, and what to try next. Lines have at most kLineWidthMax columns unless names are long.
[[nodiscard]] std::string pack_table(const PackAnswer& answer);

}  // namespace berth::cli
