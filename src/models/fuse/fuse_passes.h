/// The exact passes, in the order in which they are applied.
#pragma once

#include <span>

#include "models/graph/pass.h"

namespace berth::models {

/// They are applied in this order, again and again until none changes anything.
[[nodiscard]] std::span<const Pass> fuse_passes();

}  // namespace berth::models
