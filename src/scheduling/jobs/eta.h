/// When a job probably starts.
#pragma once

#include <optional>

#include "scheduling/jobs/why.h"

namespace berth::sched {

/// Of a job that runs or has finished: its first start; of one that waits, also after a preemption: its next one.
/// Nothing before its submit, or if the job does not start within a bound of the work to find out.
[[nodiscard]] std::optional<Eta> eta_of(const Moment& moment, JobIndex job);

}  // namespace berth::sched
