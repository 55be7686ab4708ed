/// The page of `berth place`: what policies allocate, what their idle GPU capacity is stuck in, and where pods lie.
#pragma once

#include <string>

#include "scheduling/placement/study_record.h"

namespace berth::report {

/// The page, UTF-8, one file without a script. Names are escaped; absent figures are a dash. Smaller than
/// `kPlacePageBytesMax`, whatever the lists. The same arguments give the same bytes. Requires: a result at least.
[[nodiscard]] std::string render_place_report(const placement::StudyPage& page);

inline constexpr std::size_t kPlacePageBytesMax = 1'500'000;

}  // namespace berth::report
