#include "surface/cli/scale/scale_table.h"

#include <fmt/format.h>

#include "surface/cli/shared/text_table.h"
#include "surface/figures/scale_figures.h"

namespace berth::cli {
namespace {

using scale::Comparison;

/// Why `berth` made its largest step up, in words; empty if it made none.
std::string largest_step_words(const Comparison& comparison) {
  const scale::PolicyResult* ours = comparison.result_of(scale::Policy::kBerth);
  if (ours == nullptr) return "";
  const auto largest = scale::largest_step_up(*ours);
  if (!largest || !ours->changes[*largest].reason) return "";
  const scale::WantChange& change = ours->changes[*largest];
  return fmt::format("The largest step of berth, at second {}. {}", with_separators(change.second),
                     scale::reason_words(change, ours->changes[*largest - 1].want, comparison.problem));
}

}  // namespace

std::string scale_table(const Comparison& comparison, bool has_colour) {
  std::string text = wrapped(scale::question_words(comparison)) + "\n\n" +
                     figures_text(figures::scale_figures(comparison), has_colour);
  const std::string step = largest_step_words(comparison);
  if (!step.empty()) text += "\n" + wrapped(step) + "\n";
  return text + "\n" + wrapped(scale::scale_verdict(comparison) + " " + scale::scale_assumption(comparison)) + "\n";
}

}  // namespace berth::cli
