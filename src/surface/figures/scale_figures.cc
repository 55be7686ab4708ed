#include "surface/figures/scale_figures.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::figures {
namespace {

using scale::Comparison;

/// The parameters of the policy; for `berth`, those that it found itself, as means over the run.
json::Value parameters_value(const scale::PolicyResult& result) {
  constexpr double kTwentieths = 20;
  json::Value::Object parameters;
  if (result.tracking) {
    parameters.push_back({"u", static_cast<double>(result.tracking->target_twentieths) / kTwentieths});
    parameters.push_back({"s", result.tracking->hold_seconds});
  }
  if (result.replicas) parameters.push_back({"replicas", *result.replicas});
  if (result.found) {
    parameters.push_back({"forecast_mean", result.found->forecast});
    parameters.push_back({"quantile_mean", result.found->quantile});
    parameters.push_back({"margin_mean", result.found->margin});
  }
  return parameters;
}

Cell cost_cell(const std::optional<std::int64_t>& micro_usd) { return micro_usd ? money_cell(*micro_usd) : Cell{}; }

Cell bound_ratio_cell(std::int64_t replica_seconds, std::int64_t bound) {
  if (bound == 0) return {};
  return {.text = fmt::format("{:.3f}", static_cast<double>(replica_seconds) / static_cast<double>(bound))};
}

Cell enough_cell(bool is_enough) { return is_enough ? Cell{.text = "yes"} : Cell{.text = "no", .markup = "<b>no</b>"}; }

std::vector<Column> scale_columns(const Comparison& comparison) {
  const bool has_costs = comparison.micro_usd_per_replica_hour.has_value();
  return {
      {.key = "policy", .heading = "policy", .label = "Policy"},
      {.key = "hindsight"},
      {.key = "replica_seconds", .heading = "replica-seconds", .label = "Replica-seconds"},
      {.key = "micro_usd", .heading = has_costs ? "cost" : "", .label = has_costs ? "Cost" : ""},
      {.heading = "of bound", .label = "Of the bound"},
      {.key = "requests"},
      {.key = "in_time"},
      {.key = "attainment", .heading = "in time", .label = "In time"},
      {.heading = "enough", .label = "Enough"},
      {.label = "Missed"},
      {.key = "ups", .heading = "ups", .label = "Ups"},
      {.key = "downs", .heading = "downs", .label = "Downs"},
      {.key = "parameters", .heading = "setting", .label = "Setting"},
  };
}

Row scale_row(const scale::PolicyResult& result, const Comparison& comparison, std::int64_t most) {
  const bool is_hindsight = scale::is_hindsight(result.policy);
  const scale::RunResult& run = result.run;
  return {.cells = {name_cell(scale::name_of(result.policy), is_hindsight),
                    {.value = is_hindsight},
                    barred_cell(count_cell(run.replica_seconds), share_of(run.replica_seconds, most)),
                    cost_cell(comparison.micro_usd(result)),
                    bound_ratio_cell(run.replica_seconds, scale::bound_replica_seconds(comparison.problem)),
                    {.value = run.requests},
                    {.value = run.in_time},
                    {.value = scale::attainment_of(result), .text = scale::in_time_text(result)},
                    enough_cell(comparison.is_enough(result)),
                    count_cell(run.requests - run.in_time),
                    count_cell(run.ups),
                    count_cell(run.downs),
                    {.value = parameters_value(result), .text = scale::setting_text(result)}},
          .is_ours = result.policy == scale::Policy::kBerth};
}

/// A bound has no figures except its cost.
Row scale_bound_row(const Comparison& comparison, std::int64_t most) {
  const std::int64_t bound = scale::bound_replica_seconds(comparison.problem);
  const auto price = comparison.micro_usd_per_replica_hour;
  Row row{.cells = {name_cell("bound", false),
                    {},
                    barred_cell(count_cell(bound), share_of(bound, most)),
                    price ? money_cell(scale::micro_usd_of(bound, *price)) : Cell{},
                    bound_ratio_cell(bound, bound)},
          .is_only_for_people = true};
  row.cells.resize(scale_columns(comparison).size(), empty_cell());
  return row;
}

}  // namespace

FigureTable scale_figures(const Comparison& comparison) {
  std::int64_t most = 0;
  for (const scale::PolicyResult& result : comparison.results) most = std::max(most, result.run.replica_seconds);
  FigureTable table{.columns = scale_columns(comparison), .rows = {}};
  for (const scale::PolicyResult& result : comparison.results)
    table.rows.push_back(scale_row(result, comparison, most));
  table.rows.push_back(scale_bound_row(comparison, most));
  return table;
}

}  // namespace berth::figures
