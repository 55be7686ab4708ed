#include "scheduling/jobs/censored_quantile.h"

#include <algorithm>
#include <utility>

namespace berth::sched {

std::optional<double> censored_quantile(std::vector<Observation> seen, double share) {
  if (std::ranges::none_of(seen, &Observation::is_complete)) return std::nullopt;
  // Among equal values, the complete ones first.
  std::ranges::sort(seen, {}, [](const Observation& one) { return std::pair(one.value, !one.is_complete); });
  constexpr double kRounding = 1e-9;
  double above = 1;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i].is_complete) continue;
    above *= 1 - 1 / static_cast<double>(seen.size() - i);
    if (1 - above >= share - kRounding) return seen[i].value;
  }
  return seen.back().value;
}

}  // namespace berth::sched
