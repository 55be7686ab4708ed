#include "surface/figures/warm_figures.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::figures {
namespace {

std::vector<Column> warm_columns(const warm::Problem& problem) {
  const bool has_idle = !problem.memory;
  const bool has_price = has_idle && problem.prices.micro_usd_per_idle_hour.has_value();
  const auto shown = [](bool is_shown, std::string_view name) { return is_shown ? std::string(name) : std::string(); };
  return {
      {.key = "policy", .heading = "policy", .label = "Policy"},
      {.key = "hindsight"},
      {.key = "cold_starts", .heading = "cold starts", .label = "Cold starts"},
      {.key = "cold_share"},
      {.heading = "p50", .label = "Cold share, p50"},
      {.heading = "p75", .label = "p75"},
      {.heading = "p90", .label = "p90"},
      {.key = "avoidable_share", .heading = "avoidable", .label = "Avoidable"},
      {.key = "idle_minutes", .heading = shown(has_idle, "idle min"), .label = shown(has_idle, "Idle minutes")},
      {.key = "preloads", .heading = shown(has_idle, "preloads"), .label = shown(has_idle, "Preloads")},
      {.key = "idle_seconds", .heading = shown(has_idle, "idle s"), .label = ""},
      {.key = "wait_seconds", .heading = shown(has_idle, "wait s"), .label = shown(has_idle, "Waiting, s")},
      {.key = "cost_minutes", .heading = shown(has_idle, "cost min"), .label = shown(has_idle, "Cost, minutes")},
      {.key = "cost_micro_usd", .heading = shown(has_price, "cost"), .label = shown(has_price, "Cost")},
  };
}

Cell share_cell(const std::optional<warm::ColdShares>& shares, double warm::ColdShares::* share) {
  if (!shares) return {};
  return {.value = (*shares).*share, .text = fmt::format("{:.2f}%", (*shares).*share)};
}

json::Value shares_value(const std::optional<warm::ColdShares>& shares) {
  const auto value = [&](double warm::ColdShares::* share) {
    return shares ? json::Value((*shares).*share) : json::Value();
  };
  return json::Value::Object{{"p50", value(&warm::ColdShares::p50)},
                             {"p75", value(&warm::ColdShares::p75)},
                             {"p90", value(&warm::ColdShares::p90)}};
}

Cell optional_count_cell(const std::optional<std::int64_t>& count) { return count ? count_cell(*count) : Cell{}; }

Row warm_row(const warm::Problem& problem, const warm::PolicyResult& result, std::int64_t cold_starts_max) {
  const bool is_hindsight = result.policy.is_hindsight();
  const auto shares = warm::cold_shares(problem, result);
  const auto money = warm::cost_micro_usd(problem, result);
  std::optional<std::int64_t> idle_minutes;
  std::optional<std::int64_t> preloads;
  if (result.idle) {
    idle_minutes = result.idle->idle_minutes;
    preloads = result.idle->preloads;
  }
  return {.cells = {name_cell(result.policy.name, is_hindsight),
                    {.value = is_hindsight},
                    barred_cell(count_cell(result.cold_starts), share_of(result.cold_starts, cold_starts_max)),
                    {.value = shares_value(shares)},
                    share_cell(shares, &warm::ColdShares::p50),
                    share_cell(shares, &warm::ColdShares::p75),
                    share_cell(shares, &warm::ColdShares::p90),
                    share_cell(shares, &warm::ColdShares::avoidable),
                    optional_count_cell(idle_minutes),
                    optional_count_cell(preloads),
                    optional_count_cell(warm::idle_seconds(problem, result)),
                    optional_count_cell(warm::wait_seconds(problem, result)),
                    optional_count_cell(warm::cost_minutes(problem, result)),
                    money ? money_cell(*money) : Cell{}},
          .is_ours = result.policy.name == "berth"};
}

}  // namespace

FigureTable warm_figures(const warm::Problem& problem, const std::vector<warm::PolicyResult>& results) {
  std::int64_t most = 0;
  for (const warm::PolicyResult& result : results) most = std::max(most, result.cold_starts);
  FigureTable table{.columns = warm_columns(problem), .rows = {}};
  for (const warm::PolicyResult& result : results) table.rows.push_back(warm_row(problem, result, most));
  return table;
}

}  // namespace berth::figures
