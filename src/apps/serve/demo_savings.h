/// What other policies would have made of recorded requests.
#pragma once

#include <string>
#include <vector>

#include "serving/simulation/study.h"

namespace berth::serve {

/// A table of `berth`, `berth` with `lru`, and `eager`, simulated on the device and the models given, and what the
/// first saves.
[[nodiscard]] std::string savings_text(const serving::ServingCase& serving_case);

}  // namespace berth::serve
