/// What would have to change so that a waiting job starts.
#pragma once

#include <vector>

#include "scheduling/jobs/what_if.h"

namespace berth::sched {

/// For each thing that can be changed the smallest change alone that makes a waiting job start: GPUs of the pool, a
/// limit above it, its priority, jobs to preempt (as few as possible, those that lose little; none by policies with
/// rounds, which preempt by themselves). What does not help is left out; nothing helps at a second at which the policy
/// does not decide.
[[nodiscard]] std::vector<Change> smallest_changes(const Moment& moment, JobIndex job);

}  // namespace berth::sched
