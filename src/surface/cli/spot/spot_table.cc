#include "surface/cli/spot/spot_table.h"

#include <fmt/format.h>

#include "purchase/spot/verdict.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using purchase::SpotPolicy;
using purchase::SpotScore;

std::vector<std::string> score_row(const SpotScore& score, const purchase::SpotStudy& study) {
  std::string name(purchase::name_of(score.policy));
  if (purchase::has_hindsight(score.policy)) name += " (hindsight)";
  std::vector<std::string> row = {std::move(name), purchase::usd_text(score.totals.average_usd())};
  const auto points = purchase::score_of(score.totals, study);
  row.push_back(points ? fmt::format("{:.2f}", points->to_double()) : std::string(kAbsentText));
  row.push_back(with_separators(score.totals.missed));
  row.push_back(score.totals.runs == 0 ? std::string(kAbsentText)
                                       : fmt::format("{:.1f}", static_cast<double>(score.totals.switches) /
                                                                   static_cast<double>(score.totals.runs)));
  for (const purchase::SpotGroup& group : score.groups) row.push_back(purchase::usd_text(group.totals.average_usd()));
  return row;
}

std::vector<std::string> header_of(const purchase::SpotStudy& study) {
  std::vector<std::string> header = {"policy", "mean of a run", "score", "missed", "restarts"};
  for (const std::int64_t deadline : study.deadlines) {
    for (const std::int64_t restart : study.restarts) {
      header.push_back(fmt::format("{}h/{}h", purchase::hours_text(deadline), purchase::hours_text(restart)));
    }
  }
  return header;
}

}  // namespace

std::string spot_table(const std::vector<SpotScore>& scores, const purchase::SpotStudy& study, bool has_colour) {
  std::vector<std::vector<std::string>> rows = {header_of(study)};
  for (const SpotScore& score : scores) rows.push_back(score_row(score, study));
  const std::vector<std::string> lines = aligned(rows);
  std::string text = fmt::format("{} windows, {} hours of work; columns behind restarts: mean for deadline/restart\n\n",
                                 with_separators(static_cast<std::int64_t>(study.markets.size())),
                                 purchase::hours_text(study.task_seconds));
  text += styled_line(has_colour, "2", lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    text += styled_line(has_colour, scores[i - 1].policy == SpotPolicy::kBerth ? "1" : "", lines[i]);
  }
  const std::string words = purchase::spot_verdict(scores);
  if (!words.empty()) text += "\n" + wrapped(words) + "\n";
  text += wrapped(purchase::spot_assumption(study)) + "\n";
  return text;
}

}  // namespace berth::cli
