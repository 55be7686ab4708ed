#include "placement/verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::placement {
namespace {

/// Percent that a table of two decimals cannot show.
constexpr double kSamePoints = 0.005;

/// By failed pods: where no share can be compared.
std::string verdict_by_failed(const std::vector<PolicyResult>& results) {
  const auto best =
      std::ranges::min_element(results, {}, [](const PolicyResult& result) { return result.failed->mean; });
  const auto places_all = [](const PolicyResult& result) { return result.failed->mean == 0; };
  if (results.size() > 1 && std::ranges::all_of(results, places_all)) return "Every policy places every pod.";
  if (results.size() == 1) return fmt::format("{}: {:.1f} pods fail.", name_of(best->policy), best->failed->mean);
  return fmt::format("{} fails to place the fewest pods: {:.1f} on average.", name_of(best->policy),
                     best->failed->mean);
}

}  // namespace

std::optional<Yardstick> yardstick_of(const std::vector<PolicyResult>& results) {
  const Yardstick candidates[] = {{"allocated while pods come and go", &PolicyResult::allocated_churn},
                                  {"allocated at 130 % demand", &PolicyResult::allocated_at_130},
                                  {"allocated at 100 % demand", &PolicyResult::allocated_at_100}};
  for (const Yardstick& candidate : candidates) {
    const bool is_common = std::ranges::all_of(
        results, [&](const PolicyResult& result) { return (result.*candidate.figure).has_value(); });
    if (is_common) return candidate;
  }
  return std::nullopt;
}

std::string placement_verdict(const std::vector<PolicyResult>& results) {
  const auto yardstick = yardstick_of(results);
  if (!yardstick) return verdict_by_failed(results);
  const auto mean_of = [&](const PolicyResult& result) { return (result.*yardstick->figure)->mean; };
  std::vector<const PolicyResult*> ranked;
  ranked.reserve(results.size());
  for (const PolicyResult& result : results) ranked.push_back(&result);
  std::ranges::sort(ranked, [&](const PolicyResult* a, const PolicyResult* b) {
    return mean_of(*a) != mean_of(*b) ? mean_of(*a) > mean_of(*b) : a->policy < b->policy;
  });
  const PolicyResult& best = *ranked.front();
  const std::string first =
      fmt::format("{}: {:.2f} % of the GPUs {}", name_of(best.policy), mean_of(best), yardstick->name);
  if (ranked.size() == 1) return first + ".";
  const PolicyResult& second = *ranked[1];
  const double points = mean_of(best) - mean_of(second);
  if (points < kSamePoints) {
    const auto equal = std::ranges::count_if(
        ranked, [&](const PolicyResult* other) { return mean_of(best) - mean_of(*other) < kSamePoints; });
    if (equal == 2) return fmt::format("{}; {} is as good.", first, name_of(second.policy));
    return fmt::format("{}; {} and {} others are as good.", first, name_of(second.policy), equal - 2);
  }
  return fmt::format("{} is best: {:.2f} % of the GPUs {}, {:.2f} points more than {}, the next best.",
                     name_of(best.policy), mean_of(best), yardstick->name, points, name_of(second.policy));
}

}  // namespace berth::placement
