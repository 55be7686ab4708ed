/// Allocation over the runs of a placement, a line for each policy with the band of its seeds.
#pragma once

#include <string>
#include <string_view>

#include "scheduling/placement/study_record.h"

namespace berth::report {

/// The colour of a policy's line, the same in every chart: `place-` and its name, a class of the page.
[[nodiscard]] std::string policy_class(placement::Policy policy);

/// The part in which the policies differ, enlarged, then the whole run.
[[nodiscard]] std::string course_figures(const placement::StudyPage& page);

}  // namespace berth::report
