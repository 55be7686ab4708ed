/// Runs `berth schedule`.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/schedule/schedule_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The text for stdout. The files of --log and --estimates and the page of --report appear complete or not at all.
[[nodiscard]] Result<std::string> run_schedule(const ScheduleRequest& request, const VerbContext& context);

}  // namespace berth::cli
