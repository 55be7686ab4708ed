#include "surface/pages/optimize_layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/core/figure_text.h"
#include "base/core/sort_stably.h"
#include "surface/figures/figure_table.h"
#include "surface/pages/chart.h"
#include "surface/pages/ledger_cells.h"
#include "surface/pages/optimize_names.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using models::ChannelRecord;
using models::Findings;
using models::LayerRecord;
using models::VariantRecord;

// Layers

std::string sqnr_text(double sqnr_db) {
  if (std::isnan(sqnr_db)) return "unknown";
  if (std::isinf(sqnr_db)) return sqnr_db > 0 ? "exact" : "no signal";
  return fmt::format("{}{:.1f} dB", sqnr_db < 0 ? "−" : "", std::abs(sqnr_db));
}

std::string_view precision_text(const LayerRecord& layer) { return layer.is_float ? "float" : "int8"; }

/// For sorting: what is unknown has the largest error.
double known_sqnr(const LayerRecord& layer) {
  return std::isnan(layer.sqnr_db) ? -std::numeric_limits<double>::infinity() : layer.sqnr_db;
}

/// From 0, or the lowest below it, to the highest finite one.
ChartScale sqnr_scale(const ChartFrame& frame, const VariantRecord& variant) {
  double least = 0;
  double most = 1;
  const auto with = [&](double sqnr_db) {
    if (!std::isfinite(sqnr_db)) return;
    least = std::min(least, sqnr_db);
    most = std::max(most, sqnr_db);
  };
  for (const LayerRecord& layer : variant.layers) with(layer.sqnr_db);
  if (variant.figures) with(variant.figures->sqnr_db);
  return {.first = least, .last = most * 1.05, .at_first = frame.bottom, .at_last = frame.top};
}

double sqnr_at(const ChartScale& y, double sqnr_db) {
  if (std::isnan(sqnr_db)) return y.at(0);
  return std::clamp(std::isinf(sqnr_db) ? y.at(sqnr_db > 0 ? y.last : y.first) : y.at(sqnr_db), y.at_last, y.at_first);
}

/// The layers of a column of the picture: as the one with the largest error among them.
const LayerRecord& column_layer(const VariantRecord& variant, const ColumnPlan& plan, std::size_t column) {
  return *std::min_element(variant.layers.begin() + plan.first(column), variant.layers.begin() + plan.first(column + 1),
                           [](const LayerRecord& a, const LayerRecord& b) { return known_sqnr(a) < known_sqnr(b); });
}

std::string layer_bars(const VariantRecord& variant, const ChartFrame& frame, const ChartScale& y) {
  constexpr double kWideEnough = 4;  ///< for a gap between bars
  const ColumnPlan plan = columns_for(std::ssize(variant.layers));
  const double step = (frame.right - frame.left) / static_cast<double>(plan.columns());
  const double gap = step > kWideEnough ? std::min(4.0, 0.2 * step) : 0;
  std::string svg;
  for (std::size_t column = 0; column < plan.columns(); ++column) {
    const LayerRecord& layer = column_layer(variant, plan, column);
    const double left = frame.left + step * static_cast<double>(column) + gap / 2;
    const double end = sqnr_at(y, layer.sqnr_db);
    svg += fmt::format(
        R"(<g><title>{}. {}: {}, {}</title><rect class="layer {}" x="{:.2f}" y="{}" width="{:.2f}" height="{}"/>)",
        plan.first(column) + 1, whole_name(layer.node), sqnr_text(layer.sqnr_db), precision_text(layer),
        precision_text(layer), left, position(std::min(end, y.at(0))), step - gap,
        position(std::max(1.0, std::abs(end - y.at(0)))));
    if (layer.is_float) {
      svg += fmt::format(R"(<path class="floatmark" d="M{:.2f} {}v6"/>)", left + (step - gap) / 2,
                         position(frame.bottom + 3));
    }
    svg += "</g>";
  }
  return svg;
}

/// Numbers of layers below the bars.
std::string layer_axis(const VariantRecord& variant, const ChartFrame& frame) {
  constexpr int kSteps = 10;
  const auto count = static_cast<double>(variant.layers.size());
  std::string svg;
  for (const double number : round_values(1, count, kSteps)) {
    if (number != std::floor(number)) continue;
    const double at = frame.left + (frame.right - frame.left) * (number - 0.5) / count;
    svg += fmt::format(R"(<text x="{}" y="{}" text-anchor="{}">{}</text>)", position(at), position(frame.bottom + 22),
                       at > frame.right - 12 ? "end" : "middle", axis_text(number, ""));
  }
  return svg;
}

std::string output_line(const VariantRecord& variant, const ChartFrame& frame, const ChartScale& y) {
  if (!variant.figures || !std::isfinite(variant.figures->sqnr_db)) return "";
  return fmt::format(R"(<path class="limitline" d="M{} {}H{}"><title>the model's output: {}</title></path>)",
                     position(frame.left), position(y.at(variant.figures->sqnr_db)), position(frame.right),
                     sqnr_text(variant.figures->sqnr_db));
}

std::string layers_remark(const VariantRecord& variant) {
  const auto in_float = std::ranges::count_if(variant.layers, &LayerRecord::is_float);
  std::string remark = fmt::format("dB; {} layers in the order of the graph, {} of them in float",
                                   with_separators(std::ssize(variant.layers)), with_separators(in_float));
  if (variant.figures) remark += fmt::format("; the model's output: {}", sqnr_text(variant.figures->sqnr_db));
  const std::int64_t per_column = columns_for(std::ssize(variant.layers)).per_column;
  return per_column == 1 ? remark : remark + fmt::format("; a bar is the worst of {} layers", per_column);
}

std::string layers_figure(const Findings& findings, const VariantRecord& variant) {
  constexpr double kLayerWidthMax = 44;
  ChartFrame frame{.left = 46, .top = 8, .bottom = 150, .height = 178};
  frame.right = std::min(frame.right, frame.left + kLayerWidthMax * static_cast<double>(variant.layers.size()));
  const ChartScale y = sqnr_scale(frame, variant);
  return chart_figure({.title = fmt::format("{}, {}", variant_markup(variant.name), variant_verdict(findings, variant)),
                       .remark = layers_remark(variant),
                       .label = fmt::format("Signal to quantisation noise of each layer of {}; the table below has the "
                                            "layers with the largest error",
                                            isolated(variant.name)),
                       .height = frame.height,
                       .svg = value_axis(frame, y, "") + layer_bars(variant, frame, y) +
                              output_line(variant, frame, y) + layer_axis(variant, frame)});
}

/// The layers with the largest error, the largest first.
std::string layers_table(const VariantRecord& variant) {
  std::vector<std::size_t> order(variant.layers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  sort_stably(order, [&](std::size_t i) { return known_sqnr(variant.layers[i]); });
  std::string rows;
  for (std::size_t i = 0; i < std::min(order.size(), kLayerRowsMax); ++i) {
    const LayerRecord& layer = variant.layers[order[i]];
    rows += fmt::format(R"(<tr><th scope="row">{}</th>)", name_markup(layer.node)) +
            table_cell("Number", with_separators(static_cast<std::int64_t>(order[i]) + 1)) +
            table_cell("SQNR", sqnr_text(layer.sqnr_db)) + table_cell("Computed in", precision_text(layer)) + "</tr>\n";
  }
  return fmt::format(
      "<div class=\"scroll\"><table class=\"nodes\">\n<caption>Largest errors of {}</caption>\n"
      "<thead><tr>{}{}{}{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
      variant_markup(variant.name), column_head("Layer"), column_head("Number"), column_head("SQNR"),
      column_head("Computed in"), rows);
}

/// The recommended one first, then as they were made.
std::vector<const VariantRecord*> layered_variants(const Findings& findings) {
  std::vector<const VariantRecord*> layered;
  for (const bool is_recommended : {true, false}) {
    for (const VariantRecord& variant : findings.variants) {
      if (variant.layers.empty() || (variant.name == findings.recommended) != is_recommended) continue;
      layered.push_back(&variant);
    }
  }
  return layered;
}

// Channels

/// Variants that keep the same channels.
struct PrunedVariants {
  std::vector<const VariantRecord*> variants;

  [[nodiscard]] const std::vector<ChannelRecord>& channels() const { return variants.front()->channels; }
};

std::vector<PrunedVariants> pruned_variants(const Findings& findings) {
  std::vector<PrunedVariants> sets;
  for (const VariantRecord& variant : findings.variants) {
    if (variant.channels.empty()) continue;
    const auto same =
        std::ranges::find_if(sets, [&](const PrunedVariants& set) { return set.channels() == variant.channels; });
    if (same == sets.end()) {
      sets.push_back({.variants = {&variant}});
    } else {
      same->variants.push_back(&variant);
    }
  }
  return sets;
}

std::string channel_row(std::string_view name, std::int64_t before, std::int64_t after) {
  const double share = figures::share_of(after, before);
  return fmt::format(R"(<tr><th scope="row">{}</th>)", name) + table_cell("Before", with_separators(before)) +
         table_cell("After", with_separators(after)) +
         table_cell("Kept", barred(fmt::format("{:.0f} %", share * 100), share)) + "</tr>\n";
}

std::string channel_note(std::size_t changed, std::size_t count) {
  std::string note;
  if (changed > kChannelRowsMax) {
    note += fmt::format("The first {} of {} groups that lose channels; the manifest has all. ", kChannelRowsMax,
                        with_separators(static_cast<std::int64_t>(changed)));
  }
  const auto whole = static_cast<std::int64_t>(count - changed);
  if (whole > 0) {
    note += fmt::format("{} {} channels.", with_separators(whole),
                        whole == 1 ? "group keeps all its" : "groups keep all their");
  }
  return note.empty() ? "" : "<p class=\"note\">" + note + "</p>\n";
}

std::string channels_table(const PrunedVariants& set) {
  std::string rows;
  std::size_t changed = 0;
  std::int64_t before = 0;
  std::int64_t after = 0;
  for (const ChannelRecord& each : set.channels()) {
    before += each.before;
    after += each.after;
    if (each.after == each.before) continue;
    if (++changed <= kChannelRowsMax) rows += channel_row(name_markup(each.group), each.before, each.after);
  }
  rows += channel_row("all groups", before, after);
  std::vector<std::string> names;
  for (const VariantRecord* variant : set.variants) names.push_back(variant_markup(variant->name));
  return fmt::format(
             "<div class=\"scroll\"><table class=\"nodes\">\n<caption>{}</caption>\n<thead><tr>{}{}{}{}</tr></thead>\n"
             "<tbody>\n{}</tbody>\n</table></div>\n",
             fmt::join(names, ", "), column_head("Group"), column_head("Before"), column_head("After"),
             column_head("Kept"), rows) +
         channel_note(changed, set.channels().size());
}

}  // namespace

std::string layers_section(const Findings& findings) {
  const std::vector<const VariantRecord*> layered = layered_variants(findings);
  if (layered.empty()) return "";
  std::string shown;
  for (std::size_t i = 0; i < std::min(layered.size(), kLayeredVariantsMax); ++i) {
    shown += layers_figure(findings, *layered[i]) + layers_table(*layered[i]);
  }
  if (layered.size() > kLayeredVariantsMax) {
    shown += fmt::format("<p class=\"note\">The first {} of {} variants; the manifest has all.</p>\n",
                         kLayeredVariantsMax, layered.size());
  }
  const std::string key =
      "<ul class=\"key\" aria-label=\"Legend\">" +
      key_item(R"(<rect class="layer int8" width="16" height="12"/>)", "int8") +
      key_item(R"(<rect class="layer float" width="16" height="9"/><path class="floatmark" d="M8 9v3"/>)",
               "left in float, with a mark below") +
      key_item(R"(<path class="limitline" d="M0 6H16"/>)", "the model's output") + "</ul>";
  return fmt::format(
      "<section aria-labelledby=\"h-layers\">\n  <h2 id=\"h-layers\">Error of each layer</h2>\n"
      "  <p class=\"lead\">The output of a layer against what the rounding of its own inputs and weights adds to it "
      "(SQNR; 20 dB: the error is a tenth of the signal); errors of earlier layers are not counted. A higher bar is "
      "better.</p>\n{}\n{}</section>\n",
      key, shown);
}

std::string channels_section(const Findings& findings) {
  const std::vector<PrunedVariants> sets = pruned_variants(findings);
  if (sets.empty()) return "";
  std::string tables;
  for (const PrunedVariants& set : sets) tables += channels_table(set);
  return fmt::format(
      "<section aria-labelledby=\"h-channels\">\n  <h2 id=\"h-channels\">Channels kept</h2>\n"
      "  <p class=\"lead\">Each group is the channels that can be removed only together. What the removed ones give on "
      "average is in the next layer's bias.</p>\n{}</section>\n",
      tables);
}

}  // namespace berth::report
