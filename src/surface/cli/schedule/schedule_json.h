/// The results of scheduling policies as JSON.
#pragma once

#include <string>
#include <vector>

#include "scheduling/jobs/figures.h"
#include "scheduling/jobs/start_estimates.h"
#include "scheduling/jobs/workload.h"

namespace berth::cli {

[[nodiscard]] std::string schedule_json(const sched::Workload& workload,
                                        const std::vector<sched::PolicyFigures>& results);

/// A line of --log.
[[nodiscard]] std::string schedule_log_line(const sched::Workload& workload, sched::Policy policy,
                                            const sched::LogEntry& entry);

/// A line of --estimates: the estimate for a job at its submission.
[[nodiscard]] std::string schedule_estimate_line(const sched::Workload& workload, sched::Policy policy,
                                                 const sched::StartEstimate& estimate);

}  // namespace berth::cli
