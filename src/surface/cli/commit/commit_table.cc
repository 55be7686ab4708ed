#include "surface/cli/commit/commit_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "purchase/commit/verdict.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using purchase::CommitComparison;
using purchase::CommitPolicy;
using purchase::CommitScore;

std::vector<std::string> score_row(const CommitScore& score, const CommitComparison& comparison) {
  std::string name(purchase::name_of(score.policy));
  if (purchase::has_hindsight(score.policy)) name += " (hindsight)";
  return {std::move(name),
          dollars(score.cost.micro_usd),
          purchase::ratio_text(score, comparison).value_or(std::string(kAbsentText)),
          with_separators(purchase::units_bought(score)),
          with_separators(score.cost.unused_unit_hours),
          dollars(purchase::regret_max_micro_usd(score))};
}

}  // namespace

std::string commit_table(const CommitComparison& comparison, bool has_colour) {
  const auto& scores = comparison.scores;
  std::vector<std::vector<std::string>> rows = {
      {"policy", "cost", "of optimal", "units", "unused hours", "most at stake"}};
  for (const CommitScore& score : scores) rows.push_back(score_row(score, comparison));
  const std::vector<std::string> lines = aligned(rows);
  std::string text =
      wrapped(fmt::format("{} hours of demand, at most {} units; {}",
                          with_separators(static_cast<std::int64_t>(comparison.demand.size())),
                          with_separators(std::ranges::max(comparison.demand)), prices_text(comparison.plans))) +
      "\n\n" + styled_line(has_colour, "2", lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    text += styled_line(has_colour, scores[i - 1].policy == CommitPolicy::kBerth ? "1" : "", lines[i]);
  }
  const std::string words = purchase::commit_verdict(comparison);
  if (!words.empty()) text += "\n" + wrapped(words) + "\n";
  return text + wrapped(purchase::kCommitAssumption) + "\n";
}

}  // namespace berth::cli
