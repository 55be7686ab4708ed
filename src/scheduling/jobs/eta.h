/// When a job probably starts.
#pragma once

#include <optional>

#include "scheduling/jobs/why.h"

namespace berth::sched {

/// The first start of a job that runs or has finished; the next start of a waiting job, even after a preemption.
/// Nothing before its submit, or if finding out exceeds a bound on the work.
[[nodiscard]] std::optional<Eta> eta_of(const Moment& moment, JobIndex job);

}  // namespace berth::sched
