#include "surface/cli/forecast/forecast_table.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using forecast::ModelScore;

std::vector<std::string> score_row(const ModelScore& score) {
  return {std::string(forecast::name_of(score.model)), shown(score.wape, percent), fmt::format("{:.4f}", score.pinball),
          percent(score.coverage_80), percent(score.coverage_95)};
}

std::string trace_line(const std::string& trace, const forecast::BacktestResult& result) {
  return fmt::format(
      "{}: seconds {} to {}; every {} s a forecast of the next {} s, {} forecasts in all", trace,
      with_separators(result.plan.from_second), with_separators(result.plan.from_second + result.plan.seconds - 1),
      with_separators(result.plan.every), with_separators(result.plan.horizon), with_separators(result.origins));
}

}  // namespace

std::string forecast_table(const std::string& trace, const forecast::BacktestResult& result, bool has_colour) {
  std::vector<std::vector<std::string>> rows = {{"model", "WAPE", "pinball", "in 80% band", "in 95% band"}};
  for (const ModelScore& score : result.models) rows.push_back(score_row(score));
  const std::vector<std::string> lines = aligned(rows);
  std::string text = wrapped(trace_line(trace, result)) + "\n\n";
  text += styled_line(has_colour, "2", lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool is_combination = result.models[i - 1].model == forecast::Model::kCombination;
    text += styled_line(has_colour, is_combination ? "1" : "", lines[i]);
  }
  text += "\n" +
          wrapped(
              "WAPE: sum of the errors of the median / sum of the arrivals. Pinball: mean loss of the 11 quantiles, in "
              "requests. "
              "In a band: a count on the edge counts in proportion.") +
          "\n";
  return text;
}

}  // namespace berth::cli
