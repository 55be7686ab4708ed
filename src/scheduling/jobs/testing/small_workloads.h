/// Small workloads for tests, and the log of a policy on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "scheduling/jobs/policy_name.h"
#include "scheduling/jobs/study.h"
#include "scheduling/jobs/workload.h"

namespace berth::sched::testing {

/// Jobs "a", "b", ... in that order; `tenants` as in a file, or none. Requires: a workload that can be made.
[[nodiscard]] Workload workload_of(std::vector<ListedJob> jobs, GpuCount gpus, std::vector<ListedTenant> tenants = {});

/// "start a 0, finish a 10": the events, in order.
[[nodiscard]] std::string course_of(const Workload& workload, Policy policy, const Terms& terms = {});

/// Random jobs with all properties, of a tree of tenants with guarantees and limits.
[[nodiscard]] Workload random_workload(Rng rng);
[[nodiscard]] Terms random_terms(Rng rng);

}  // namespace berth::sched::testing
