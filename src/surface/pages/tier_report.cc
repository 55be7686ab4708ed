#include "surface/pages/tier_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/pages/figure_html.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"
#include "surface/pages/tier_charts.h"
#include "tier/choose/verdict.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char tier_html_begin[];
extern const char tier_html_end[];
}

namespace berth::report {
namespace {

using figures::Cell;
using figures::FigureTable;
using figures::Row;
using tier::TierAnswer;
using tier::TierProspect;

bool is_service_answer(const TierAnswer& answer) { return answer.call.kind == tier::TierKind::kServices; }

std::string tier_facts(const TierAnswer& answer) {
  std::string facts = fact("Workload", answer.call.known.name) + fact("Model", answer.call.known.group) +
                      fact("Target", tier::target_text(answer.call)) +
                      fact("Sure enough", fmt::format("probability of {:g} or more", answer.call.sure));
  if (!answer.choice) return facts;
  const std::size_t tier = answer.choice->tier;
  const auto& probability = answer.prospects[tier].probability;
  if (probability) facts += fact("Probability", fmt::format("{:.3f}", *probability));
  if (const auto cost = cost_shown(answer, tier)) {
    facts += fact(is_service_answer(answer) ? "Cost per hour" : "Cost per million samples",
                  "$" + significant(cost->to_double()));
  }
  return facts;
}

// The tiers

Cell number_cell(const std::optional<double>& value) { return value ? Cell{.text = significant(*value)} : Cell{}; }

/// "120 <small>100 to 140</small>", or the figure alone.
Cell spread_cell_of(const std::optional<double>& median, const std::optional<double>& p10,
                    const std::optional<double>& p90, bool is_measured) {
  if (!median) return {};
  if (is_measured) return {.text = significant(*median)};
  const auto text = [](const std::optional<double>& value) { return value ? significant(*value) : std::string("–"); };
  return {.markup = fmt::format("<span>{} <small>{} to {}</small></span>", significant(*median), text(p10), text(p90))};
}

std::string tier_verdict_markup(const TierAnswer& answer, std::size_t tier) {
  const TierProspect& prospect = answer.prospects[tier];
  const std::string_view basis = prospect.is_measured ? "measured" : prospect.per_second ? "predicted" : "not known";
  if (prospect.excluded) return fmt::format("<b>excluded</b>: {}", html_escaped(*prospect.excluded));
  const bool is_taken = answer.choice && answer.choice->tier == tier;
  return is_taken ? fmt::format("<b>taken</b>; {}", basis) : std::string(basis);
}

FigureTable tiers_table(const TierAnswer& answer) {
  const bool is_service = is_service_answer(answer);
  FigureTable table{.columns = {{.label = "Tier"}, {.label = "Price", .head = "$ per hour"}}, .rows = {}};
  table.columns.push_back({.label = is_service ? "Requests/s of a slice" : "Samples/s"});
  if (is_service) {
    table.columns.push_back({.label = "Latency", .head = "Latency, ms"});
    table.columns.push_back({.label = "Slices"});
  }
  table.columns.push_back({.label = "Cost", .head = is_service ? "Cost, $ per hour" : "Cost, $ per million samples"});
  table.columns.push_back({.label = "Mean", .head = "Mean cost if it keeps it"});
  table.columns.push_back({.label = "Probability"});
  table.columns.push_back({.label = "Verdict"});
  for (std::size_t i = 0; i < answer.prospects.size(); ++i) {
    const TierProspect& prospect = answer.prospects[i];
    Row row{.cells = {{.text = answer.call.tiers[i].name},
                      {.text = significant(answer.call.tiers[i].usd_per_hour.to_double())}},
            .is_ours = answer.choice && answer.choice->tier == i};
    const auto& rate = prospect.per_second;
    row.cells.push_back(rate ? spread_cell_of(rate->median, rate->p10, rate->p90, prospect.is_measured) : Cell{});
    if (is_service) {
      row.cells.push_back(
          spread_cell_of(prospect.latency_ms, prospect.latency_ms_p10, prospect.latency_ms_p90, prospect.is_measured));
      row.cells.push_back(prospect.units ? Cell{.text = tier::plain_number(*prospect.units)} : Cell{});
    }
    const auto cost = cost_shown(answer, i);
    row.cells.push_back(number_cell(cost ? std::optional(cost->to_double()) : std::nullopt));
    row.cells.push_back(number_cell(mean_cost_shown(answer, i)));
    row.cells.push_back(prospect.probability
                            ? Cell{.text = fmt::format("{:.3f}", *prospect.probability), .share = *prospect.probability}
                            : Cell{});
    row.cells.push_back({.markup = tier_verdict_markup(answer, i)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

// What the features add

std::vector<std::size_t> explained_tiers(const TierAnswer& answer) {
  std::vector<std::size_t> tiers;
  for (std::size_t i = 0; i < answer.shares.size() && tiers.size() < kTiersExplainedMax; ++i) {
    if (!answer.shares[i].empty()) tiers.push_back(i);
  }
  return tiers;
}

/// The features by their largest share, each with its shares by tier.
FigureTable features_table(const TierAnswer& answer, const std::vector<std::size_t>& tiers) {
  FigureTable table{.columns = {{.label = "Feature"}}, .rows = {}};
  std::map<std::string, std::vector<std::optional<double>>> by_feature;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    table.columns.push_back({.label = html_escaped(answer.call.tiers[tiers[i]].name)});
    for (const tier::FeatureShare& share : answer.shares[tiers[i]]) {
      auto& shares = by_feature[share.feature];
      shares.resize(tiers.size());
      shares[i] = share.share;
    }
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [feature, shares] : by_feature) {
    double largest = 0;
    for (const auto& share : shares) largest = std::max(largest, std::abs(share.value_or(0)));
    order.emplace_back(-largest, feature);
  }
  std::ranges::sort(order);
  for (const auto& [unused, feature] : order) {
    Row row{.cells = {{.text = feature}}};
    for (const auto& share : by_feature[feature]) {
      row.cells.push_back(share ? Cell{.text = fmt::format("{:+.3f}", *share)} : Cell{});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string features_section(const TierAnswer& answer) {
  const std::vector<std::size_t> tiers = explained_tiers(answer);
  if (tiers.empty()) return "";
  const FigureTable table = features_table(answer, tiers);
  return fmt::format(
      "<section aria-labelledby=\"h-features\">\n  <h2 id=\"h-features\">What the features add</h2>\n  <p "
      "class=\"lead\">"
      "Logarithms; their sum is that of the predicted throughput over the anchor's, the cheapest tier that was "
      "measured."
      "{}</p>\n  <div class=\"scroll\"><table class=\"wide\">\n  <thead><tr>{}</tr></thead>\n  <tbody>\n{}</tbody>\n  "
      "</table></div>\n</section>\n\n",
      tiers.size() == kTiersExplainedMax ? fmt::format(" At most {} tiers.", kTiersExplainedMax) : "",
      figure_heads(table), figure_rows(table));
}

// Pictures

std::string picture_section(std::string_view id, std::string_view title, std::string_view lead,
                            const std::string& picture) {
  if (picture.empty()) return "";
  return fmt::format(
      "<section aria-labelledby=\"h-{0}\">\n  <h2 id=\"h-{0}\">{1}</h2>\n  <p "
      "class=\"lead\">{2}</p>\n{3}</section>\n\n",
      id, title, lead, picture);
}

std::string picture_sections(const TierAnswer& answer) {
  const std::string cost = cost_probability_figure(answer);
  const std::string rate = throughput_figure(answer);
  return picture_section("cost", "Cost against probability",
                         "To the left: cheaper. Further up: more probably within the target.",
                         cost.empty() ? cost : cost_probability_key() + cost) +
         picture_section(
             "rate", "Predicted against measured",
             "Of tiers that were measured beyond the anchor also what the forest would have predicted from the "
             "anchor alone.",
             rate.empty() ? rate : throughput_key() + rate) +
         picture_section(
             "calibration", "Calibration",
             "Each model was predicted by a forest that never saw it. On the line: what is stated is found.",
             calibration_figure(answer));
}

// Words

std::string list_section(std::string_view id, std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string items;
  for (const std::string& line : lines) items += "<li>" + html_escaped(line) + "</li>\n";
  return fmt::format(
      "<section aria-labelledby=\"h-{0}\">\n  <h2 id=\"h-{0}\">{1}</h2>\n<ul "
      "class=\"reasons\">\n{2}</ul>\n</section>\n\n",
      id, title, items);
}

std::string change_section(const TierAnswer& answer) {
  std::vector<std::string> lines;
  for (const tier::TierChange& change : answer.changes) lines.push_back(tier::change_text(answer, change));
  if (const std::string next = tier::next_text(answer); !next.empty()) lines.push_back(next);
  return list_section("changes", "What would change the choice", lines);
}

std::string offers_section(std::span<const tier::PriceSource> offers) {
  std::vector<std::string> lines;
  for (const tier::PriceSource& offer : offers) {
    lines.push_back(fmt::format("{}: {} of {} in {}, ${} per GPU and hour, share {}", offer.tier, offer.instance_type,
                                offer.provider, offer.region, tier::plain_number(offer.usd_per_gpu_hour),
                                offer.share.to_string()));
  }
  return list_section("offers", "Where the prices come from", lines);
}

std::string doubt_line(const TierAnswer& answer) {
  const std::string words = tier::doubt_text(answer);
  return words.empty() ? "" : "  <p class=\"shortfall\">" + html_escaped(words) + "</p>\n";
}

}  // namespace

std::string render_tier_report(const TierAnswer& answer, std::span<const tier::PriceSource> offers) {
  const FigureTable tiers = tiers_table(answer);
  return fill_page(embedded(tier_html_begin, tier_html_end), {{"title", html_escaped(answer.call.known.name)},
                                                              {"headline", html_escaped(tier::tier_verdict(answer))},
                                                              {"doubt", doubt_line(answer)},
                                                              {"facts", tier_facts(answer)},
                                                              {"assumed", html_escaped(tier::tier_assumption(answer))},
                                                              {"columns", figure_heads(tiers)},
                                                              {"rows", figure_rows(tiers)},
                                                              {"pictures", picture_sections(answer)},
                                                              {"features", features_section(answer)},
                                                              {"changes", change_section(answer)},
                                                              {"offers", offers_section(offers)}});
}

}  // namespace berth::report
