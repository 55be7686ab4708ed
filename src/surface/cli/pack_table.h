/// A plan as a table for people.
#pragma once

#include <string>

#include "surface/cli/pack_answer.h"

namespace berth::cli {

/// What the plan takes and how far that is proven, a line for each GPU (equal neighbours share one) and each demand,
/// and what to try next. Lines of at most kLineWidthMax columns unless names are long.
[[nodiscard]] std::string pack_table(const PackAnswer& answer);

}  // namespace berth::cli
