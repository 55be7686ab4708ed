#include "surface/cli/commit/commit_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "purchase/commit/verdict.h"
#include "surface/cli/shared/text_table.h"
#include "surface/figures/commit_figures.h"

namespace berth::cli {

std::string commit_table(const purchase::CommitComparison& comparison, bool has_colour) {
  std::string text =
      wrapped(fmt::format("{} hours of demand, at most {} units; {}", with_separators(std::ssize(comparison.demand)),
                          with_separators(std::ranges::max(comparison.demand)),
                          purchase::prices_text(comparison.plans))) +
      "\n\n" + figures_text(figures::commit_figures(comparison), has_colour);
  const std::string words = purchase::commit_verdict(comparison);
  if (!words.empty()) text += "\n" + wrapped(words) + "\n";
  return text + wrapped(purchase::kCommitAssumption) + "\n";
}

}  // namespace berth::cli
