/// Begins the world, or continues it where the previous process ended.
#pragma once

#include <optional>

#include "apps/up/held_signals.h"
#include "base/core/result.h"

namespace berth::up {

struct UpParts;

/// Puts the first layout in place at second 0: its question is answered before the clock starts. Returns the exit
/// status if a signal arrived meanwhile. Requires: build_parts.
[[nodiscard]] Result<std::optional<int>> begin_world(UpParts& parts, const HeldSignals& signals);

}  // namespace berth::up
