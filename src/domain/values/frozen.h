/// When no change may begin: the frozen windows of the scenario, and the windows without changes.
#pragma once

#include <optional>

#include "base/core/instant.h"
#include "domain/values/scenario.h"

namespace berth {

/// Whether the instant lies in such a window. O(frozen windows + log spans).
[[nodiscard]] bool is_frozen(const Scenario& scenario, Instant at);

/// Before when no change may begin, windows that follow each other taken together; nothing: one may begin now. O(frozen
/// windows).
[[nodiscard]] std::optional<Instant> frozen_until(const Scenario& scenario, Instant at);

}  // namespace berth
