#include "serving/warm/worth.h"

#include <algorithm>
#include <tuple>

#include "base/core/ensure.h"
#include "serving/warm/parameters.h"

namespace berth::warm {

double weight_of_app(std::int64_t invocations_so_far) {
  ENSURE(invocations_so_far > 0);
  return kAppInvocations / static_cast<double>(invocations_so_far);
}

std::vector<std::size_t> most_valuable(std::span<const Loadable> candidates, std::int64_t room) {
  struct Rank {
    double density = 0;
    std::size_t index = 0;
  };
  std::vector<Rank> ranks(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    ranks[i] = {.density = candidates[i].value / static_cast<double>(candidates[i].size), .index = i};
  }
  std::ranges::sort(ranks, [&](const Rank& a, const Rank& b) {
    return std::tuple(-a.density, candidates[a.index].key) < std::tuple(-b.density, candidates[b.index].key);
  });
  std::vector<std::size_t> chosen;
  for (const Rank& rank : ranks) {
    const Loadable& candidate = candidates[rank.index];
    if (candidate.size > room) continue;
    room -= candidate.size;
    chosen.push_back(candidate.key);
  }
  return chosen;
}

}  // namespace berth::warm
