#include "surface/cli/advise/advise_table.h"

#include <string_view>
#include <vector>

#include "surface/cli/shared/text_table.h"
#include "surface/figures/advise_figures.h"

namespace berth::cli {
namespace {

/// The lines of a table, its headings dim and Berth's own row bold.
std::string advise_lines(const figures::FigureTable& table, bool has_colour) {
  const std::vector<std::string> lines = figure_lines(table);
  std::string text = styled_line(has_colour, "2", lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    text += table.rows[i - 1].is_ours ? styled_line(has_colour, "1", lines[i]) : lines[i] + "\n";
  }
  return text;
}

}  // namespace

std::string advise_table(const purchase::advise::AdviceCase& advice_case, bool has_colour) {
  const purchase::advise::Advice& advice = advice_case.advice;
  return advise_lines(figures::advise_offers(advice_case), has_colour) + "\n" +
         advise_lines(figures::advise_costs(advice), has_colour) + "\n" +
         wrapped(advise_verdict(advice) + " " + advise_assumption(advice, advice_case.at)) + "\n";
}

}  // namespace berth::cli
