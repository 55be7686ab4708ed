#include "sched/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/figure_text.h"

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

/// "12.3 % less than las" or "1.2 % more than srpt".
std::string compared(const PolicyFigures& figures, const PolicyFigures& other) {
  const double share = figures.completion.mean / other.completion.mean - 1;
  return fmt::format("{:.1f} % {} than {}", std::abs(share) * 100, share <= 0 ? "less" : "more", name_of(other.policy));
}

}  // namespace

std::string schedule_verdict(const std::vector<PolicyFigures>& results) {
  const auto without = ranked(results, false);
  const auto with = ranked(results, true);
  if (without.empty())
    return fmt::format("{}: {} mean completion, with hindsight.", name_of(with.front()->policy),
                       mean_text(*with.front()));
  const PolicyFigures& best = *without.front();
  std::string text = without.size() == 1
                         ? fmt::format("{}: {} mean completion", name_of(best.policy), mean_text(best))
                         : fmt::format("{} is best: {} mean completion, {}, the next best", name_of(best.policy),
                                       mean_text(best), compared(best, *without[1]));
  if (!with.empty()) text += fmt::format("; {}, which knows the durations", compared(best, *with.front()));
  return text + ".";
}

}  // namespace berth::sched
