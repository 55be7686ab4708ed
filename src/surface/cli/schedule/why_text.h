/// Explanations and time slots, as JSON and as text for people.
#pragma once

#include <optional>
#include <string>

#include "scheduling/jobs/slot.h"
#include "scheduling/jobs/why.h"

namespace berth::cli {

[[nodiscard]] std::string why_json(const sched::Workload& workload, const sched::Explanation& explanation);
[[nodiscard]] std::string why_text(const sched::Workload& workload, const sched::Explanation& explanation);

[[nodiscard]] std::string slot_json(const std::optional<sched::Slot>& slot);
[[nodiscard]] std::string slot_text(const sched::SlotWish& wish, const std::optional<sched::Slot>& slot);

}  // namespace berth::cli
