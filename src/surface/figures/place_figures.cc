#include "surface/figures/place_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/core/figure_text.h"

namespace berth::figures {
namespace {

using placement::DecisionTimes;
using placement::PolicyResult;
using placement::Summary;

/// A figure over the runs of a policy.
struct PlaceColumn {
  std::string_view key;
  std::string_view heading;  ///< of the text and of the page
  std::optional<Summary> PolicyResult::* figure;
  int digits = 2;             ///< decimals
  bool is_share = true;       ///< of the GPUs, in percent
  bool is_of_slices = false;  ///< only where GPUs can be partitioned
};

constexpr PlaceColumn kPlaceColumns[] = {
    {"allocated_percent_at_100", "at 100 %", &PolicyResult::allocated_at_100},
    {"allocated_percent_at_130", "at 130 %", &PolicyResult::allocated_at_130},
    {"allocated_percent_churn", "allocated", &PolicyResult::allocated_churn},
    {"units_percent_at_130", "units at 130 %", &PolicyResult::units_at_130, 2, true, true},
    {"units_percent_churn", "units", &PolicyResult::units_churn, 2, true, true},
    {"fragmented_percent", "fragmented", &PolicyResult::fragmented},
    {"failed", "failed", &PolicyResult::failed, 1, false},
    {"moves", "moves", &PolicyResult::moves, 1, false, true},
};

json::Value nine_digits_or_null(std::optional<double> number) { return number ? nine_digits(*number) : json::Value(); }

Cell summary_cell(const std::optional<Summary>& summary, const PlaceColumn& column) {
  constexpr double kPercent = 100;
  if (!summary) return {};
  const std::string mean = fmt::format("{:.{}f}", summary->mean, column.digits);
  const std::string sd = summary->sd ? fmt::format(" ± {:.{}f}", *summary->sd, column.digits) : "";
  // On the page the deviation is small: " <small>± 0.12</small>".
  const std::string markup = separated(mean) + (sd.empty() ? "" : fmt::format(" <small>{}</small>", sd.substr(1)));
  Cell cell{
      .value = json::Value::Object{{"mean", nine_digits(summary->mean)}, {"sd", nine_digits_or_null(summary->sd)}},
      .text = mean + sd};
  if (column.is_share) {
    cell.markup = markup;
    cell.share = summary->mean / kPercent;
  } else {
    cell.markup = fmt::format("<span>{}</span>", markup);
  }
  return cell;
}

json::Value times_value(const std::optional<DecisionTimes>& times) {
  if (!times) return nullptr;
  return json::Value::Object{{"p50", nine_digits_or_null(times->p50_us)},
                             {"p99", nine_digits_or_null(times->p99_us)},
                             {"per_second", nine_digits_or_null(times->per_second)}};
}

std::vector<Column> place_columns(const placement::Problem& problem, const std::vector<PolicyResult>& results) {
  std::vector<Column> columns = {{.key = "policy", .heading = "policy", .label = "Policy"}};
  for (const PlaceColumn& column : kPlaceColumns) {
    const bool is_known =
        std::ranges::any_of(results, [&](const PolicyResult& result) { return (result.*column.figure).has_value(); });
    const std::string heading(is_known ? column.heading : "");
    const bool has_key = !column.is_of_slices || problem.has_cuts();
    columns.push_back({.key = std::string(has_key ? column.key : ""), .heading = heading, .label = heading});
  }
  const bool has_times =
      std::ranges::any_of(results, [](const PolicyResult& result) { return result.times.has_value(); });
  columns.push_back({.key = "decision_us", .heading = has_times ? "p50 us" : ""});
  columns.push_back({.heading = has_times ? "p99 us" : ""});
  columns.push_back({.heading = has_times ? "per second" : ""});
  return columns;
}

Row place_row(const PolicyResult& result) {
  Row row{.cells = {name_cell(placement::name_of(result.policy), false)},
          .is_ours = result.policy == placement::Policy::kBerth};
  for (const PlaceColumn& column : kPlaceColumns) row.cells.push_back(summary_cell(result.*column.figure, column));
  Cell p50{.value = times_value(result.times)};
  Cell p99;
  Cell per_second;
  if (result.times) {
    p50.text = fmt::format("{:.2f}", result.times->p50_us);
    p99.text = fmt::format("{:.1f}", result.times->p99_us);
    per_second.text = with_separators(static_cast<std::int64_t>(result.times->per_second));
  }
  row.cells.insert(row.cells.end(), {std::move(p50), std::move(p99), std::move(per_second)});
  return row;
}

}  // namespace

FigureTable place_figures(const placement::Problem& problem, const std::vector<PolicyResult>& results) {
  FigureTable table{.columns = place_columns(problem, results), .rows = {}};
  for (const PolicyResult& result : results) table.rows.push_back(place_row(result));
  return table;
}

}  // namespace berth::figures
