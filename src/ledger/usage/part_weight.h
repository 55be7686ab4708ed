/// What a part of a GPU weighs on the bill.
#pragma once

#include <cstdint>
#include <optional>

#include "domain/values/scenario.h"
#include "live/session/usage_book.h"

namespace berth::ledger {

/// Whether the part is a whole slice, and not the rest of one that others overlap.
[[nodiscard]] bool is_whole_slice(const GpuModel& model, const live::UsagePart& part);

/// The weight of a part, in the capacity of the model (ledger/weights): that of the profile of a whole slice, else its
/// share of the units.
[[nodiscard]] std::int64_t weight_of_part(const GpuModel& model, const live::UsagePart& part);

/// The weight with which a part is on the bill, all holders together; absent: it is free, so it is idle time, or
/// stranded with what the other parts of the GPU leave.
[[nodiscard]] std::optional<std::int64_t> billed_weight(const GpuModel& model, const live::UsagePart& part);

}  // namespace berth::ledger
