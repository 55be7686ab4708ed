/// Contents as text, to find equal ones.
#pragma once

#include <cstdint>
#include <string>

#include "models/graph/graph.h"

namespace berth::models {

/// The same for two constants exactly if they are equal, as far as 64 bits can say.
[[nodiscard]] std::uint64_t digest_of(const Constant& constant);

/// The same for two nodes if they do the same with the same inputs: all but their names and their outputs' names.
[[nodiscard]] std::string contents_of(const Node& node);

}  // namespace berth::models
