/// The health of one GPU, for display.
#pragma once

#include <string>

#include "gpu/health/gpu_health.h"

namespace berth::live {

struct HealthView {
  health::HealthState state = health::HealthState::kOk;
  std::string reason = {};  ///< of the latest change; empty: there was none
};

}  // namespace berth::live
