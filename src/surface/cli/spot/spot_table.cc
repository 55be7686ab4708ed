#include "surface/cli/spot/spot_table.h"

#include <fmt/format.h>

#include "purchase/spot/verdict.h"
#include "surface/cli/shared/text_table.h"
#include "surface/figures/spot_figures.h"

namespace berth::cli {

std::string spot_table(const std::vector<purchase::SpotScore>& scores, const purchase::SpotStudy& study,
                       bool has_colour) {
  std::string text = fmt::format("{} windows, {} hours of work; columns behind restarts: mean for deadline/restart\n\n",
                                 with_separators(std::ssize(study.markets)), purchase::hours_text(study.task_seconds));
  text += figures_text(figures::spot_figures(scores, study), has_colour);
  const std::string words = purchase::spot_verdict(scores);
  if (!words.empty()) text += "\n" + wrapped(words) + "\n";
  return text + wrapped(purchase::spot_assumption(study)) + "\n";
}

}  // namespace berth::cli
