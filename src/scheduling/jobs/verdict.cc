#include "scheduling/jobs/verdict.h"

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

/// The policy with the least mean of those without hindsight, which are sorted by it.
std::string least_text(const std::vector<const PolicyFigures*>& without) {
  const PolicyFigures& least = *without.front();
  std::string alone = fmt::format("{}: {} mean completion", name_of(least.policy), mean_text(least));
  if (without.size() == 1) return alone;
  std::vector<std::string_view> equal;
  for (const PolicyFigures* other : without | std::views::drop(1)) {
    if (is_as_good(least, *other)) equal.push_back(name_of(other->policy));
  }
  if (!equal.empty()) return alone + "; " + as_good_words(equal);
  return fmt::format("{} has the least mean completion: {}, {}, the next", name_of(least.policy), mean_text(least),
                     compared(least, *without[1]));
}

/// A figure of which less is better.
struct Column {
  std::string_view name;
  double (*value)(const PolicyFigures&);
  int digits = 0;
  std::string_view unit = "";
};

constexpr Column kColumns[] = {
    {"p99 completion", [](const PolicyFigures& of) { return static_cast<double>(of.completion.p99); }, 0, " s"},
    {"mean wait", [](const PolicyFigures& of) { return of.wait.mean; }, 0, " s"},
    {"mean slowdown", [](const PolicyFigures& of) { return of.slowdown_mean; }, 2},
    {"worst rho", [](const PolicyFigures& of) { return of.rho_worst; }, 2},
    {"makespan", [](const PolicyFigures& of) { return static_cast<double>(of.makespan); }, 0, " s"},
    {"preemptions", [](const PolicyFigures& of) { return static_cast<double>(of.preemptions); }},
    {"late jobs", [](const PolicyFigures& of) { return static_cast<double>(of.deadlines_missed); }},
};

std::string figure_in(const Column& column, const PolicyFigures& figures) {
  return separated(fmt::format("{:.{}f}", column.value(figures), column.digits)) + std::string(column.unit);
}

/// In what the first policy is not the best of those without hindsight, as far as the figures show it.
std::string worse_text(const std::vector<const PolicyFigures*>& without) {
  std::vector<std::string> worse;
  for (const Column& column : kColumns) {
    const PolicyFigures& best =
        **std::ranges::min_element(without, {}, [&](const PolicyFigures* figures) { return column.value(*figures); });
    const std::string own = figure_in(column, *without.front());
    const std::string least = figure_in(column, best);
    if (own == least) continue;
    worse.push_back(fmt::format("{} ({} {}, {} {})", column.name, name_of(best.policy), least,
                                name_of(without.front()->policy), own));
  }
  if (worse.empty()) return "";
  return " Others have less " + fmt::format("{}.", fmt::join(worse, ", "));
}

}  // namespace

std::string schedule_verdict(const std::vector<PolicyFigures>& results) {
  ENSURE(!results.empty());
  const auto without = ranked(results, false);
  const auto with = ranked(results, true);
  if (without.empty())
    return fmt::format("{}: {} mean completion, with hindsight.", name_of(with.front()->policy),
                       mean_text(*with.front()));
  std::string text = least_text(without);
  if (!with.empty()) text += fmt::format("; {}, which knows the durations", compared(*without.front(), *with.front()));
  return text + "." + worse_text(without);
}

}  // namespace berth::sched
