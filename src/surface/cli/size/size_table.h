/// The number of GPUs that each policy needs, as a table.
#pragma once

#include <string>

#include "sim/study/size.h"

namespace berth::cli {

/// The answer in words, one row per policy with its cost and utilisation compared with the references, and every count
/// that was tried. At most kLineWidthMax columns unless figures are of astronomical size.
[[nodiscard]] std::string size_table(const study::SizeResult& result, bool has_colour);

}  // namespace berth::cli
