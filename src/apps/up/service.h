/// The API of a running `berth up`, and the clock of its world.
#pragma once

#include "base/core/result.h"

namespace berth::up {

struct UpParts;

/// Makes and starts the driver, the API, the queues and the server; prints a line on `out` when requests are answered.
/// Requires: begin_world.
[[nodiscard]] Result<void> start_service(UpParts& parts);

}  // namespace berth::up
