/// Remarks on events of a window of the past that a scenario cannot express.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "live/whatif/chronicle.h"

namespace berth::whatif {

/// A sentence each, without a full stop. `words`: a time of the world.
[[nodiscard]] std::vector<std::string> remarks_on(const Chronicle& chronicle, const Span& window,
                                                  const std::function<std::string(Instant)>& words);

}  // namespace berth::whatif
