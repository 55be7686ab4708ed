/// Connections that send a request again and again.
#pragma once

#include <cstddef>
#include <functional>

#include "base/core/result.h"
#include "domain/ports/http_message.h"
#include "models/profiling/turn.h"

namespace berth::profiler {

/// Runs a turn: `order.processes` threads send one request after another, at the same time; what begins within the turn
/// is measured, and none stops before all have measured. `send_one`: each connection, from 0 on, has a thread of its
/// own. An error of one ends all.
[[nodiscard]] Result<models::TurnTimes> run_connections(
    const models::TurnOrder& order, const std::function<Result<void>(std::size_t connection)>& send_one);

}  // namespace berth::profiler
