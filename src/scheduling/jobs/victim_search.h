/// Which running jobs would have to be preempted so that a waiting job starts.
#pragma once

#include <optional>

#include "scheduling/jobs/what_if.h"

namespace berth::sched {

/// As few jobs as possible, and among equally few those that lose little; nothing if no set that starts the job is
/// found. If no job is served before it, no smaller set exists; else sets are tried, smallest first, at most 1,000.
/// Requires: the job waits after the decision of the moment, and its policy does not decide in rounds. At most some
/// 2,000 decisions.
[[nodiscard]] std::optional<Change> fewest_to_preempt(const Moment& moment, JobIndex job);

}  // namespace berth::sched
