// Random networks whose channels go through all operators that pruning follows.
#pragma once

#include <cstdint>

#include "base/core/rng.h"
#include "models/graph/graph.h"

namespace berth::testing {

struct RandomNetworkOptions {
  bool has_padding = true;  ///< else a value that is constant stays so, up to the border
  std::int64_t opset = 17;  ///< 13 to 21
};

/// Input "x", images [N, 3, 12, 12]; output "y", [N, 5]. Layers of 16 to 40 channels.
[[nodiscard]] models::Model random_network(Rng rng, const RandomNetworkOptions& options = {});

}  // namespace berth::testing
