/// The figures of a replay as a table.
#pragma once

#include <string>

#include "sim/study/replay.h"

namespace berth::cli {

struct TableStyle {
  bool has_colour = false;   ///< bold and dim, on a terminal only
  bool has_timings = false;  ///< show how long each policy took
};

/// One row per policy; below it the policies that cannot run, the fields that were ignored, and how to see more. At
/// most kLineWidthMax columns unless figures are of astronomical size.
[[nodiscard]] std::string replay_table(const study::ReplayResult& result, TableStyle style);

}  // namespace berth::cli
