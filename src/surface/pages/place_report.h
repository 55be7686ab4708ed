/// The page of `berth place`: the allocation of policies, the causes of their idle GPU capacity, and the pods' places.
#pragma once

#include <string>

#include "scheduling/placement/study_record.h"

namespace berth::report {

/// The page, UTF-8, one file without a script. Names are escaped; absent figures are a dash. Smaller than
/// `kPlacePageBytesMax` for any input. The same arguments give the same bytes. Requires: at least one result.
[[nodiscard]] std::string render_place_report(const placement::StudyPage& page);

inline constexpr std::size_t kPlacePageBytesMax = 1'500'000;

}  // namespace berth::report
