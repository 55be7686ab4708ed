/// Policies by their names on the command line.
#pragma once

#include <string>
#include <string_view>

#include "base/core/result.h"
#include "serving/dispatch/terms.h"

namespace berth::serving {

/// "berth", "eager", "delay:MICROSECONDS" (0 to 3,600,000,000), "aimd". The error says what was wanted and found.
[[nodiscard]] Result<DispatchPolicy> parse_policy(std::string_view text);
[[nodiscard]] std::string name_of(const DispatchPolicy& policy);

/// "value", "lru" or "warm".
[[nodiscard]] Result<EvictionRule> parse_eviction(std::string_view text);
[[nodiscard]] std::string_view name_of(EvictionRule rule);

}  // namespace berth::serving
