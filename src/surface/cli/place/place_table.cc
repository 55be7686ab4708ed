#include "surface/cli/place/place_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/core/count_words.h"
#include "scheduling/placement/figure_columns.h"
#include "scheduling/placement/verdict.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using placement::ArrivalOrder;
using placement::PolicyResult;
using placement::Summary;

std::string figure_text(const std::optional<Summary>& summary, int digits) {
  if (!summary) return std::string(kAbsentText);
  if (!summary->sd) return fmt::format("{:.{}f}", summary->mean, digits);
  return fmt::format("{:.{}f} ± {:.{}f}", summary->mean, digits, *summary->sd, digits);
}

std::string heading_text(const placement::Problem& problem, const placement::StudyOptions& study) {
  std::string text =
      fmt::format("{}, {}, {}; ", counted_noun(std::ssize(problem.nodes), "node"),
                  counted_noun(problem.gpu_count, "GPU"), counted_noun(std::ssize(problem.pod_names), "pod"));
  const std::string seeds = counted_noun(std::ssize(study.seeds), "seed");
  switch (study.order) {
    case ArrivalOrder::kGiven:
      text += "in the order of the file";
      break;
    case ArrivalOrder::kSeeded:
      text += fmt::format("{}, up to {} x the GPUs", seeds, study.demand.to_string());
      break;
    case ArrivalOrder::kChurn:
      text += fmt::format("{}, pods leave, {} x the GPUs asked for on average", seeds, study.demand.to_string());
      break;
  }
  return text + "; percent of the GPUs";
}

}  // namespace

std::string place_table(const placement::Problem& problem, const placement::StudyOptions& study,
                        const std::vector<PolicyResult>& results, bool has_colour) {
  const std::vector<placement::FigureColumn> columns = placement::figure_columns(results);
  const bool has_times =
      std::ranges::any_of(results, [](const PolicyResult& result) { return result.times.has_value(); });
  std::vector<std::vector<std::string>> rows = {{"policy"}};
  for (const placement::FigureColumn& column : columns) rows.front().emplace_back(column.heading);
  if (has_times) rows.front().insert(rows.front().end(), {"p50 us", "p99 us", "per second"});
  for (const PolicyResult& result : results) {
    std::vector<std::string>& row = rows.emplace_back();
    row.emplace_back(placement::name_of(result.policy));
    for (const placement::FigureColumn& column : columns)
      row.push_back(figure_text(result.*column.figure, column.digits));
    if (!has_times) continue;
    row.push_back(shown(result.times, [](const auto& times) { return fmt::format("{:.2f}", times.p50_us); }));
    row.push_back(shown(result.times, [](const auto& times) { return fmt::format("{:.1f}", times.p99_us); }));
    row.push_back(shown(
        result.times, [](const auto& times) { return with_separators(static_cast<std::int64_t>(times.per_second)); }));
  }
  const std::vector<std::string> lines = aligned(rows);
  std::string text = heading_text(problem, study) + "\n\n" + styled_line(has_colour, "2", lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool is_ours = results[i - 1].policy == placement::Policy::kBerth;
    text += styled_line(has_colour, is_ours ? "1" : "", lines[i]);
  }
  return text + "\n" + wrapped(placement::placement_verdict(results)) + "\n";
}

}  // namespace berth::cli
