/// The verifier of a packing. It shares no code with the search: it depends only on the problem, the plan and the rules
/// of MIG.
#pragma once

#include <optional>
#include <string>

#include "domain/values/packing.h"

namespace berth::packing {

/// Why a packing is not a solution of a problem, or nothing. The message says what was wanted and found, and on which
/// GPU, slice or demand; of several faults the first in this order is reported:
///
/// 1. GPUs: each is of an offer, no offer is used more often than allowed, none is empty.
/// 2. Slices: sorted, on a GPU of the plan, for a demand of the problem, together legal on each GPU; with tenants apart
///    one tenant per GPU.
/// 3. Points: a measured row of the demand's model for that GPU model and profile (a whole GPU has rows of its own),
///    within the limit of processes, its latency strictly below factor x target, its throughput stated as measured.
/// 4. Demands: every sum is at least rate x headroom, exactly; and without any one of its slices it would be less.
///
/// Whether fewer GPUs would suffice is not checked. O(slices x rows of a table).
[[nodiscard]] std::optional<std::string> find_fault(const PackingProblem& problem, const Packing& packing);

}  // namespace berth::packing
