/// Which running jobs would have to be preempted so that a waiting job starts.
#pragma once

#include <optional>

#include "scheduling/jobs/what_if.h"

namespace berth::sched {

/// As few as possible, and of equally few those that lose little; nothing where none is found that starts the job.
/// Where nobody is served before the job, no smaller set exists; else sets are tried, fewest first, 1,000 at most.
/// Requires: the job waits after the decision of the moment, and its policy does not decide in rounds. At most some
/// 2,000 decisions.
[[nodiscard]] std::optional<Change> fewest_to_preempt(const Moment& moment, JobIndex job);

}  // namespace berth::sched
