#include "scheduling/placement/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <string_view>

#include "base/core/count_words.h"
#include "base/core/ensure.h"
#include "base/core/figure_text.h"

namespace berth::placement {
namespace {

/// Differences in percent that a table with two decimals cannot show.
constexpr double kSamePoints = 0.005;

/// Differences in pods that a table with one decimal cannot show.
constexpr double kSamePods = 0.05;

/// "1 pod" of one run; "1.3 pods on average" of several.
std::string failed_text(const Summary& failed) {
  if (!failed.sd) return counted_noun(std::llround(failed.mean), "pod");
  return separated(fmt::format("{:.1f}", failed.mean)) + " pods on average";
}

/// The verdict by failed pods, if no share can be compared.
std::string verdict_by_failed(const std::vector<PolicyResult>& results) {
  const auto failed_of = [](const PolicyResult& result) { return result.failed->mean; };
  const PolicyResult& best = *std::ranges::min_element(results, {}, failed_of);
  const std::string failed = failed_text(*best.failed);
  if (results.size() == 1) return fmt::format("{} fails to place {}.", name_of(best.policy), failed);
  std::vector<std::string_view> equal;
  for (const PolicyResult& other : results) {
    if (&other != &best && failed_of(other) - failed_of(best) < kSamePods) equal.push_back(name_of(other.policy));
  }
  if (equal.size() + 1 == results.size()) {
    return failed_of(best) == 0 ? "Every policy places every pod."
                                : fmt::format("All policies tie: each fails to place {}.", failed);
  }
  const std::string text = fmt::format("{} fails to place the fewest: {}", name_of(best.policy), failed);
  return equal.empty() ? text + "." : text + "; " + as_good_words(equal) + ".";
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
  ENSURE(!results.empty());
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
    std::vector<std::string_view> equal;
    for (const PolicyResult* other : ranked | std::views::drop(1)) {
      if (mean_of(best) - mean_of(*other) < kSamePoints) equal.push_back(name_of(other->policy));
    }
    return first + "; " + as_good_words(equal) + ".";
  }
  return fmt::format("{} is best: {:.2f} % of the GPUs {}, {:.2f} points more than {}, the next best.",
                     name_of(best.policy), mean_of(best), yardstick->name, points, name_of(second.policy));
}

}  // namespace berth::placement
