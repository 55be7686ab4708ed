/// Faults of the simulated world in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "domain/values/scenario.h"
#include "sim/world/fault_book.h"

namespace berth::live {

/// The word of the API: "fail_create".
[[nodiscard]] std::string_view fault_word(sim::FaultKind kind);
/// "fault-3".
[[nodiscard]] std::string fault_name(std::uint64_t id);
/// "fail_create on gpu-3 to gpu-5, 2 actions each".
[[nodiscard]] std::string fault_text(const Scenario& scenario, const sim::FaultOrder& order);

}  // namespace berth::live
