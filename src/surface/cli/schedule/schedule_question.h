/// Answers questions about one second of a run: why a job waits, when GPUs are free.
#pragma once

#include <string>

#include "base/core/result.h"
#include "scheduling/jobs/workload.h"
#include "surface/cli/schedule/schedule_options.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The text for stdout. If several policies are named, `berth` answers. Errors: no such job; those of run_policy().
/// Requires: request.question.
[[nodiscard]] Result<std::string> answer_question(const sched::Workload& workload, const ScheduleRequest& request,
                                                  const VerbContext& context, const RunOutputs& outputs);

}  // namespace berth::cli
