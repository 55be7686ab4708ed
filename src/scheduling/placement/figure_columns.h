/// The figures of policies as columns of a table.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "scheduling/placement/study.h"

namespace berth::placement {

struct FigureColumn {
  std::string_view heading;  ///< "at 130 %"
  std::optional<Summary> PolicyResult::* figure;
  int digits = 2;         ///< after the point
  bool is_share = false;  ///< of the GPUs, in percent
};

/// The columns that some policy has, in the order of the output.
[[nodiscard]] std::vector<FigureColumn> figure_columns(const std::vector<PolicyResult>& results);

}  // namespace berth::placement
