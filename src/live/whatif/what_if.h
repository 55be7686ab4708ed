/// A window of a world's past as a scenario: the same fleet, services and arrivals, for policies to try; and what
/// really happened to its devices.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "live/whatif/chronicle.h"
#include "sim/world/recorded.h"

namespace berth::whatif {

/// Whole seconds of the world: [from, to).
struct Window {
  std::int64_t from = 0;
  std::int64_t to = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

/// The longest window: all that is known; `to` is not above `from` if there is none.
[[nodiscard]] Window whole_window(const Chronicle& chronicle);

struct WhatIf {
  /// Its second 0 is the window's first second. A service has the spec of the window's end (or of its removal), the
  /// name tenant.name, and the recorded arrivals, including those before the window, and none while it did not exist.
  /// `layout` has the slices at second 0, if the format can express them.
  Scenario scenario;
  sim::RecordedRun run;              ///< from the scenario's second 0 on, with its services
  std::vector<std::string> remarks;  ///< what happened that the scenario does not show
};

/// A time of the world in words.
using TimeWords = std::function<std::string(Instant)>;

/// Error: no service existed, or the fleet has no GPU. Requires: from < to, within `whole_window`.
[[nodiscard]] Result<WhatIf> what_if(const Chronicle& chronicle, const Window& window, const TimeWords& words);

}  // namespace berth::whatif
