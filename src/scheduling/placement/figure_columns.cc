#include "scheduling/placement/figure_columns.h"

#include <algorithm>
#include <iterator>

namespace berth::placement {

std::vector<FigureColumn> figure_columns(const std::vector<PolicyResult>& results) {
  const FigureColumn all[] = {{"at 100 %", &PolicyResult::allocated_at_100, 2, true},
                              {"at 130 %", &PolicyResult::allocated_at_130, 2, true},
                              {"allocated", &PolicyResult::allocated_churn, 2, true},
                              {"units at 130 %", &PolicyResult::units_at_130, 2, true},
                              {"units", &PolicyResult::units_churn, 2, true},
                              {"fragmented", &PolicyResult::fragmented, 2, true},
                              {"failed", &PolicyResult::failed, 1},
                              {"moves", &PolicyResult::moves, 1}};
  std::vector<FigureColumn> columns;
  std::ranges::copy_if(all, std::back_inserter(columns), [&](const FigureColumn& column) {
    return std::ranges::any_of(results,
                               [&](const PolicyResult& result) { return (result.*column.figure).has_value(); });
  });
  return columns;
}

}  // namespace berth::placement
