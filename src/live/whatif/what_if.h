/// A time of a world's past as a scenario: the same fleet, services and arrivals, for policies to try; and what really
/// happened to its devices.
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

/// All that is known: the longest window; `to` is not above `from` if there is none.
[[nodiscard]] Window whole_window(const Chronicle& chronicle);

struct WhatIf {
  /// Its second 0 is the window's first one. A service has the spec of the window's end (or of when it was removed),
  /// the name tenant.name, the arrivals that are recorded, of the seconds before the window, too, and none where it was
  /// not there. `layout` is what stood at second 0, if the form can say it.
  Scenario scenario;
  sim::RecordedRun run;              ///< from the scenario's second 0 on, with its services
  std::vector<std::string> remarks;  ///< what happened and the scenario does not say
};

/// A time of the world in words.
using TimeWords = std::function<std::string(Instant)>;

/// Error: no service was there, or the fleet has no GPU. Requires: from < to, within `whole_window`.
[[nodiscard]] Result<WhatIf> what_if(const Chronicle& chronicle, const Window& window, const TimeWords& words);

}  // namespace berth::whatif
