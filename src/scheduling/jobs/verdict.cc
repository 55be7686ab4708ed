#include "scheduling/jobs/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <string_view>

#include "base/core/count_words.h"
#include "base/core/ensure.h"
#include "base/core/figure_text.h"

namespace berth::sched {
namespace {

/// By mean completion, then in the order of the policies.
std::vector<const PolicyFigures*> ranked(const std::vector<PolicyFigures>& results, bool with_hindsight) {
  std::vector<const PolicyFigures*> chosen;
  for (const PolicyFigures& figures : results) {
    if (has_hindsight(figures.policy) == with_hindsight) chosen.push_back(&figures);
  }
  std::ranges::sort(chosen, [](const PolicyFigures* a, const PolicyFigures* b) {
    return std::pair(a->completion.mean, a->policy) < std::pair(b->completion.mean, b->policy);
  });
  return chosen;
}

std::string mean_text(const PolicyFigures& figures) {
  return with_separators(std::llround(figures.completion.mean)) + " s";
}

/// Differences in percent that a text with one decimal cannot show.
constexpr double kSamePercent = 0.05;

/// By how many percent the mean completion exceeds the other's.
double percent_above(const PolicyFigures& figures, const PolicyFigures& other) {
  if (figures.completion.mean == other.completion.mean) return 0;
  return (figures.completion.mean / other.completion.mean - 1) * 100;
}

bool is_as_good(const PolicyFigures& figures, const PolicyFigures& other) {
  return std::abs(percent_above(figures, other)) < kSamePercent;
}

/// "12.3 % less than las", "1.2 % more than srpt" or "as good as sjf".
std::string compared(const PolicyFigures& figures, const PolicyFigures& other) {
  if (is_as_good(figures, other)) return fmt::format("as good as {}", name_of(other.policy));
  const double percent = percent_above(figures, other);
  return fmt::format("{:.1f} % {} than {}", std::abs(percent), percent < 0 ? "less" : "more", name_of(other.policy));
}

/// Names the best of the policies without hindsight, which are sorted best first.
std::string best_text(const std::vector<const PolicyFigures*>& without) {
  const PolicyFigures& best = *without.front();
  std::string alone = fmt::format("{}: {} mean completion", name_of(best.policy), mean_text(best));
  if (without.size() == 1) return alone;
  std::vector<std::string_view> equal;
  for (const PolicyFigures* other : without | std::views::drop(1)) {
    if (is_as_good(best, *other)) equal.push_back(name_of(other->policy));
  }
  if (!equal.empty()) return alone + "; " + as_good_words(equal);
  return fmt::format("{} is best: {} mean completion, {}, the next best", name_of(best.policy), mean_text(best),
                     compared(best, *without[1]));
}

}  // namespace

std::string schedule_verdict(const std::vector<PolicyFigures>& results) {
  ENSURE(!results.empty());
  const auto without = ranked(results, false);
  const auto with = ranked(results, true);
  if (without.empty())
    return fmt::format("{}: {} mean completion, with hindsight.", name_of(with.front()->policy),
                       mean_text(*with.front()));
  std::string text = best_text(without);
  if (!with.empty()) text += fmt::format("; {}, which knows the durations", compared(*without.front(), *with.front()));
  return text + ".";
}

}  // namespace berth::sched
