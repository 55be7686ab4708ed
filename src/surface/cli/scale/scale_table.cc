#include "surface/cli/scale/scale_table.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using Row = std::vector<std::string>;
using scale::Comparison;

std::string name_text(const scale::PolicyResult& result) {
  return std::string(scale::name_of(result.policy)) + (scale::is_hindsight(result.policy) ? " (hindsight)" : "");
}

std::string or_absent(const std::optional<std::string>& text) { return text.value_or(std::string(kAbsentText)); }

std::string bound_ratio(std::int64_t replica_seconds, std::int64_t bound) {
  if (bound == 0) return std::string(kAbsentText);
  return fmt::format("{:.3f}", static_cast<double>(replica_seconds) / static_cast<double>(bound));
}

Row result_row(const scale::PolicyResult& result, const Comparison& comparison) {
  Row row = {name_text(result), with_separators(result.run.replica_seconds)};
  if (comparison.micro_usd_per_replica_hour) row.push_back(shown(comparison.micro_usd(result), dollars));
  row.insert(row.end(), {bound_ratio(result.run.replica_seconds, scale::bound_replica_seconds(comparison.problem)),
                         or_absent(scale::in_time_text(result)), comparison.is_enough(result) ? "yes" : "no",
                         with_separators(result.run.ups), with_separators(result.run.downs),
                         or_absent(scale::setting_text(result))});
  return row;
}

Row bound_row(const Comparison& comparison) {
  const std::int64_t bound = scale::bound_replica_seconds(comparison.problem);
  Row row = {"bound", with_separators(bound)};
  if (comparison.micro_usd_per_replica_hour) {
    row.push_back(dollars(scale::micro_usd_of(bound, *comparison.micro_usd_per_replica_hour)));
  }
  row.insert(row.end(), {bound_ratio(bound, bound), "", "", "", "", ""});
  return row;
}

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
  Row header = {"policy", "replica-seconds"};
  if (comparison.micro_usd_per_replica_hour) header.emplace_back("cost");
  header.insert(header.end(), {"of bound", "in time", "enough", "ups", "downs", "setting"});
  std::vector<Row> rows = {std::move(header)};
  for (const scale::PolicyResult& result : comparison.results) rows.push_back(result_row(result, comparison));
  rows.push_back(bound_row(comparison));
  const std::vector<std::string> lines = aligned(rows);
  std::string text = wrapped(scale::question_words(comparison)) + "\n\n" + styled_line(has_colour, "2", lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool is_ours = i <= comparison.results.size() && comparison.results[i - 1].policy == scale::Policy::kBerth;
    text += styled_line(has_colour, is_ours ? "1" : "", lines[i]);
  }
  const std::string step = largest_step_words(comparison);
  if (!step.empty()) text += "\n" + wrapped(step) + "\n";
  return text + "\n" + wrapped(scale::scale_verdict(comparison) + " " + scale::scale_assumption(comparison)) + "\n";
}

}  // namespace berth::cli
