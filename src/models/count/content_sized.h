/// Which sizes of a model's values a single run can tell.
#pragma once

#include <set>
#include <string>

#include "models/graph/graph.h"

namespace berth::models {

/// The values whose sizes may depend on what the inputs hold, and not on their sizes alone: those of operators that
/// choose elements (NonZero, Unique ..), of operators that are told a size by a value that was computed from the
/// inputs, and all that is computed from such values. An operator that is not known counts as one that chooses.
/// Requires: nodes come after what they read, as the format states.
[[nodiscard]] std::set<std::string> sized_by_content(const Graph& graph);

}  // namespace berth::models
