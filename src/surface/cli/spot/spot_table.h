/// The cost of policies on spot and on-demand instances as text for people.
#pragma once

#include <string>
#include <vector>

#include "purchase/spot/study.h"

namespace berth::cli {

[[nodiscard]] std::string spot_table(const std::vector<purchase::SpotScore>& scores, const purchase::SpotStudy& study,
                                     bool has_colour);

}  // namespace berth::cli
