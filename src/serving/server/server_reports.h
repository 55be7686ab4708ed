/// What a server knows of its memory, its batches and its counters.
#pragma once

#include <optional>
#include <vector>

#include "serving/server/server_core.h"
#include "serving/service/figure_service.h"

namespace berth::serving {

/// Without what only the outside knows: `base_bytes`, `device_free_bytes`.
[[nodiscard]] MemoryFigures memory_of(const ServerCore& core, Instant now);

/// Of all versions that ran since the start, also of those that are gone: by name, version, content and rows. Versions
/// with the same content count together.
[[nodiscard]] std::vector<BatchTimes> times_of(const ServerCore& core);

/// Without `device`.
[[nodiscard]] CounterFigures counters_of(const ServerCore& core, Instant now);

}  // namespace berth::serving
