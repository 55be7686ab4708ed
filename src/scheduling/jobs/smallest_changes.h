/// The changes that would make a waiting job start.
#pragma once

#include <vector>

#include "scheduling/jobs/what_if.h"

namespace berth::sched {

/// For each kind of change, the smallest one that alone makes a waiting job start: GPUs of the pool, a limit above it,
/// its priority, jobs to preempt (as few as possible, those that lose little; not for policies with rounds, which
/// preempt on their own). Kinds that do not help are left out; nothing helps at a second at which the policy does not
/// decide.
[[nodiscard]] std::vector<Change> smallest_changes(const Moment& moment, JobIndex job);

}  // namespace berth::sched
