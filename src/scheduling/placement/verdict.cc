#include "scheduling/placement/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <string>
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

/// A difference of means that the seeds alone can make; 0 of one run.
double spread_of(const Summary& one, const Summary& other) {
  return std::max(one.sd.value_or(0), other.sd.value_or(0));
}

/// A figure of the table in which others may be better.
struct Column {
  std::string_view name;
  std::optional<Summary> PolicyResult::* figure;
  bool is_more_better = false;
  int digits = 2;
};

constexpr Column kColumns[] = {{"allocated at 100 %", &PolicyResult::allocated_at_100, true},
                               {"allocated at 130 %", &PolicyResult::allocated_at_130, true},
                               {"fragmented", &PolicyResult::fragmented},
                               {"failed", &PolicyResult::failed, false, 1},
                               {"moves", &PolicyResult::moves, false, 1}};

/// In what the first policy is worse than another, by more than the spread and than the table can show.
std::string worse_text(const std::vector<const PolicyResult*>& ranked) {
  const PolicyResult& first = *ranked.front();
  std::vector<std::string> worse;
  for (const Column& column : kColumns) {
    const auto& own = first.*column.figure;
    if (!own) continue;
    const PolicyResult* best = &first;
    double gain_most = 0;
    for (const PolicyResult* other : ranked | std::views::drop(1)) {
      const auto& its = other->*column.figure;
      if (!its) continue;
      const double gain = column.is_more_better ? its->mean - own->mean : own->mean - its->mean;
      const double shown_least = column.digits == 1 ? kSamePods : kSamePoints;
      if (gain < shown_least || gain <= spread_of(*own, *its) || gain <= gain_most) continue;
      gain_most = gain;
      best = other;
    }
    if (best == &first) continue;
    const auto shown = [&](const Summary& of) { return separated(fmt::format("{:.{}f}", of.mean, column.digits)); };
    worse.push_back(fmt::format("{} ({} {}, {} {})", column.name, name_of(best->policy), shown(*(best->*column.figure)),
                                name_of(first.policy), shown(*own)));
  }
  return worse.empty() ? "" : fmt::format(" Others are better in {}.", fmt::join(worse, ", "));
}

/// The verdict by failed pods, if no share can be compared.
std::string verdict_by_failed(const std::vector<PolicyResult>& results) {
  const auto failed_of = [](const PolicyResult& result) { return result.failed->mean; };
  const PolicyResult& best = *std::ranges::min_element(results, {}, failed_of);
  const std::string failed = failed_text(*best.failed);
  if (results.size() == 1) return fmt::format("{} fails to place {}.", name_of(best.policy), failed);
  std::vector<std::string_view> equal;
  for (const PolicyResult& other : results) {
    const bool is_close =
        failed_of(other) - failed_of(best) <= std::max(kSamePods, spread_of(*best.failed, *other.failed));
    if (&other != &best && is_close) equal.push_back(name_of(other.policy));
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
  const Summary& most = *(best.*yardstick->figure);
  const std::string first =
      fmt::format("{}: {:.2f} % of the GPUs {}", name_of(best.policy), most.mean, yardstick->name);
  if (ranked.size() == 1) return first + ".";
  std::vector<std::string_view> equal;
  double spread = 0;
  for (const PolicyResult* other : ranked | std::views::drop(1)) {
    const Summary& its = *(other->*yardstick->figure);
    if (most.mean - its.mean > std::max(kSamePoints, spread_of(most, its))) continue;
    equal.push_back(name_of(other->policy));
    spread = std::max(spread, spread_of(most, its));
  }
  if (!equal.empty()) {
    const std::string within =
        spread >= kSamePoints ? fmt::format(", within the spread of the seeds, {:.2f}", spread) : "";
    return first + "; " + as_good_words(equal) + within + "." + worse_text(ranked);
  }
  const PolicyResult& second = *ranked[1];
  return fmt::format("{} {}: {:.2f} % of the GPUs {}, {:.2f} points more than {}, the next.{}", name_of(best.policy),
                     most.sd ? "is best" : "has the most in this run", most.mean, yardstick->name,
                     most.mean - mean_of(second), name_of(second.policy), worse_text(ranked));
}

}  // namespace berth::placement
