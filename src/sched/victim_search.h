/// Which running jobs would have to be preempted so that a waiting job starts.
#pragma once

#include <optional>

#include "sched/what_if.h"

namespace berth::sched {

/// As few as possible, and of equally few those that lose little; nothing where no preemption starts the job. Requires:
/// the job waits behind the decision of the moment, and its policy does not decide in rounds.
[[nodiscard]] std::optional<Change> fewest_to_preempt(const Moment& moment, JobIndex job);

}  // namespace berth::sched
