/// The times when no change may begin: the scenario's frozen windows, and the weekly windows without changes.
#pragma once

#include <optional>

#include "base/core/instant.h"
#include "domain/values/scenario.h"

namespace berth {

/// Whether the instant is in such a window. O(frozen windows + log spans).
[[nodiscard]] bool is_frozen(const Scenario& scenario, Instant at);

/// The earliest instant at which a change may begin, taking adjoining windows together; nothing if one may begin now.
/// O(frozen windows).
[[nodiscard]] std::optional<Instant> frozen_until(const Scenario& scenario, Instant at);

}  // namespace berth
