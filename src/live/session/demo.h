/// The built-in demo: what `berth up` shows without a scenario. Generated, not measured.
#pragma once

#include "domain/values/scenario.h"

namespace berth::live {

/// 8 GPUs of 3 models (A100-80GB, A30-24GB, H100-80GB), 6 services of 3 tenants whose load never ends. Latencies follow
/// a formula: a fixed part, and a part per request that shrinks with the compute slices. Always the same.
[[nodiscard]] Scenario demo_scenario();

}  // namespace berth::live
