#include "surface/pages/place_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "base/core/count_words.h"
#include "base/core/figure_text.h"
#include "base/core/sort_stably.h"
#include "scheduling/placement/verdict.h"
#include "surface/pages/chart.h"
#include "surface/pages/ledger_cells.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using placement::ClusterEnd;
using placement::GpuEnd;
using placement::GpusByUse;
using placement::kUseLevels;
using placement::NodeEnd;
using placement::PolicyRecord;
using placement::StudyPage;

constexpr double kMapWidth = 352;
constexpr double kHeadingHeight = 18;
constexpr double kGroupGap = 8;
constexpr double kStripGap = 3;

/// The models that share a heading, and their nodes: the largest first, else in the order of the list.
struct MapGroup {
  std::string name;
  std::vector<std::size_t> nodes;
  std::int64_t gpus = 0;
};

/// The first letters of a name that fit next to the counts, as plain text that cannot affect the text around it.
std::string model_label(std::string_view name) {
  constexpr std::size_t kLettersMax = 14;
  std::size_t letters = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(name[i]) & 0xC0U) != 0x80U;
    if (begins && ++letters > kLettersMax) return isolated(name.substr(0, i)) + "…";
  }
  return name.empty() ? "no model" : isolated(name);
}

std::vector<MapGroup> map_groups(const placement::Problem& problem) {
  std::vector<MapGroup> groups(problem.models.size());
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].name = model_label(problem.models[i]);
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) {
    MapGroup& group = groups[static_cast<std::size_t>(problem.nodes[i].model)];
    group.nodes.push_back(i);
    group.gpus += problem.nodes[i].gpu_count;
  }
  std::vector<std::size_t> order(groups.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return groups[a].gpus != groups[b].gpus ? groups[a].gpus > groups[b].gpus : a < b;
  });
  std::vector<MapGroup> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) {
    if (groups[i].gpus == 0) continue;
    if (sorted.size() < kMapModelsMax) {
      sorted.push_back(std::move(groups[i]));
      continue;
    }
    MapGroup& others = sorted.back();
    others.name = "other models";
    others.gpus += groups[i].gpus;
    others.nodes.insert(others.nodes.end(), groups[i].nodes.begin(), groups[i].nodes.end());
  }
  for (MapGroup& group : sorted) {
    std::ranges::sort(group.nodes, [&](std::size_t a, std::size_t b) {
      const int gpus_a = problem.nodes[a].gpu_count;
      const int gpus_b = problem.nodes[b].gpu_count;
      return gpus_a != gpus_b ? gpus_a > gpus_b : a < b;
    });
  }
  return sorted;
}

/// The layout of a map, the same for all maps of a page.
struct MapPlan {
  double cell_width = 4;   ///< with the gap
  double cell_height = 4;  ///< likewise
  double strip_gap = 0;    ///< extra space between adjacent nodes
  bool is_detailed = false;
  bool has_slices = false;
  std::vector<MapGroup> groups;
  std::vector<double> heading_at;                   ///< by group
  std::vector<std::pair<double, double>> strip_at;  ///< by node: left and top
  double height = 0;
};

void lay_out(const placement::Problem& problem, MapPlan& plan) {
  plan.heading_at.clear();
  plan.strip_at.assign(problem.nodes.size(), {0, 0});
  double y = 0;
  for (const MapGroup& group : plan.groups) {
    plan.heading_at.push_back(y + 12);
    y += kHeadingHeight;
    double x = 0;
    double row_height = 0;
    for (const std::size_t node : group.nodes) {
      const double height = plan.cell_height * problem.nodes[node].gpu_count + kStripGap;
      if (x + plan.cell_width > kMapWidth) {
        x = 0;
        y += row_height;
        row_height = 0;
      }
      plan.strip_at[node] = {x, y};
      x += plan.cell_width + plan.strip_gap;
      row_height = std::max(row_height, height);
    }
    y += row_height + kGroupGap;
  }
  plan.height = y;
}

MapPlan map_plan(const StudyPage& page) {
  constexpr double kHeightMax = 620;
  constexpr double kGapCellsMin = 8;  // smaller cells fill the map
  MapPlan plan;
  plan.is_detailed = page.problem.gpu_count <= kDetailedGpusMax;
  plan.groups = map_groups(page.problem);
  plan.has_slices = plan.is_detailed && page.problem.has_cuts();
  for (const double size : {16.0, 14.0, 12.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0}) {
    plan.cell_height = size;
    plan.cell_width = plan.has_slices ? 44 : size;
    plan.strip_gap = plan.has_slices || size < kGapCellsMin ? 0 : 3;
    lay_out(page.problem, plan);
    if (plan.height <= kHeightMax) break;
  }
  return plan;
}

/// Cells by look, as dashes of vertical lines: adjacent cells of a node are one line.
class CellPaths {
 public:
  explicit CellPaths(const MapPlan& plan) : plan_(plan) {}

  void add(std::size_t look, std::size_t node, std::size_t gpu, std::size_t count) {
    const auto [left, top] = plan_.strip_at[node];
    const double y = top + plan_.cell_height * static_cast<double>(gpu);
    fmt::format_to(std::back_inserter(paths_[look]), "M{} {}v{}", position(left + (plan_.cell_width - 1) / 2),
                   position(y), position(plan_.cell_height * static_cast<double>(count) - 1));
  }
  [[nodiscard]] std::string svg() const {
    std::string text;
    for (std::size_t look = 0; look < paths_.size(); ++look) {
      if (paths_[look].empty()) continue;
      text += fmt::format(R"(<path class="cell{}" d="{}"/>)", look, paths_[look]);
    }
    return fmt::format(R"(<g class="cells" style="stroke-width:{};stroke-dasharray:{} 1">{}</g>)",
                       position(plan_.cell_width - 1), position(plan_.cell_height - 1), text);
  }

 private:
  const MapPlan& plan_;
  std::array<std::string, kUseLevels> paths_;
};

/// Each GPU as a cell coloured by its level of use.
std::string level_cells(const MapPlan& plan, const ClusterEnd& end) {
  CellPaths paths(plan);
  for (std::size_t node = 0; node < end.nodes.size(); ++node) {
    const std::vector<GpuEnd>& gpus = end.nodes[node].gpus;
    for (std::size_t first = 0, next = 0; first < gpus.size(); first = next) {
      const std::size_t level = placement::use_level(gpus[first].used_milli);
      while (next < gpus.size() && placement::use_level(gpus[next].used_milli) == level) ++next;
      paths.add(level, node, first, next - first);
    }
  }
  return paths.svg();
}

/// A dot in each cell with much idle capacity on a node where no pod of the list can use any of it.
std::string stuck_dots(const MapPlan& plan, const ClusterEnd& end) {
  constexpr int kMuchMilli = 250;
  const double size = std::max(1.6, plan.cell_height * 0.3);
  std::string path;
  for (std::size_t node = 0; node < end.nodes.size(); ++node) {
    if (end.nodes[node].is_useful) continue;
    const auto [left, top] = plan.strip_at[node];
    for (std::size_t gpu = 0; gpu < end.nodes[node].gpus.size(); ++gpu) {
      if (placement::kGpuMilli - end.nodes[node].gpus[gpu].used_milli < kMuchMilli) continue;
      fmt::format_to(std::back_inserter(path), "M{} {}h{}", position(left + (plan.cell_width - 1) / 2 - size / 2),
                     position(top + plan.cell_height * (static_cast<double>(gpu) + 0.5) - 0.5), position(size));
    }
  }
  if (path.empty()) return "";
  return fmt::format(R"(<path class="stuck" style="stroke-width:{}" d="{}"/>)", position(size), path);
}

/// Each GPU as a bar filled in proportion to its use, with its slices.
std::string slice_bars(const MapPlan& plan, const ClusterEnd& end) {
  const double width = plan.cell_width - 4;
  const std::string height = position(plan.cell_height - 2);
  std::string empty;
  std::string used;
  std::string slices;
  const auto add = [&](std::string& path, double x, double y, double wide) {
    fmt::format_to(std::back_inserter(path), "M{} {}h{}v{}h-{}z", position(x), position(y), position(wide), height,
                   position(wide));
  };
  for (std::size_t node = 0; node < end.nodes.size(); ++node) {
    const auto [left, top] = plan.strip_at[node];
    for (std::size_t gpu = 0; gpu < end.nodes[node].gpus.size(); ++gpu) {
      const GpuEnd& found = end.nodes[node].gpus[gpu];
      const double y = top + plan.cell_height * static_cast<double>(gpu);
      add(empty, left, y, width);
      const double unit = width / std::max(1, end.nodes[node].units);
      for (const placement::UnitSpan& slice : found.slices) {
        add(slices, left + unit * slice.start + 0.4, y, unit * slice.length - 0.8);
      }
      if (found.slices.empty() && found.used_milli > 0)
        add(used, left, y, width * found.used_milli / placement::kGpuMilli);
    }
  }
  return fmt::format(R"(<path class="barempty" d="{}"/><path class="barused" d="{}"/><path class="barslice" d="{}"/>)",
                     empty, used, slices);
}

/// The tooltip of a node.
std::string node_text(const StudyPage& page, std::size_t index, const NodeEnd* end) {
  const placement::Node& node = page.problem.nodes[index];
  std::string text =
      fmt::format("row {}: {}", node.row, model_label(page.problem.models[static_cast<std::size_t>(node.model)]));
  if (end == nullptr) {
    return text + fmt::format(", {}, {} CPU milli, {} MiB", counted_noun(node.gpu_count, "GPU"), node.cpu_milli,
                              node.memory_mib);
  }
  std::vector<int> used;
  used.reserve(end->gpus.size());
  for (const GpuEnd& gpu : end->gpus) used.push_back(gpu.used_milli);
  text += fmt::format(", GPU milli used {}; free: {} of {} CPU milli, {} of {} MiB", fmt::join(used, " "),
                      end->cpu_free, node.cpu_milli, end->memory_free, node.memory_mib);
  return text + (end->is_useful ? "" : "; no pod of the list can use what is idle");
}

std::string node_texts(const StudyPage& page, const MapPlan& plan, const ClusterEnd* end) {
  if (!plan.is_detailed) return "";
  std::string svg = R"(<g class="hover">)";
  for (std::size_t node = 0; node < plan.strip_at.size(); ++node) {
    svg += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>)",
                       position(plan.strip_at[node].first), position(plan.strip_at[node].second),
                       position(plan.cell_width - 1), position(plan.cell_height * page.problem.nodes[node].gpu_count),
                       html_escaped(node_text(page, node, end == nullptr ? nullptr : &end->nodes[node])));
  }
  return svg + "</g>";
}

std::int64_t used_milli_of(const MapGroup& group, const ClusterEnd& end) {
  std::int64_t used = 0;
  for (const std::size_t node : group.nodes) {
    for (const GpuEnd& gpu : end.nodes[node].gpus) used += gpu.used_milli;
  }
  return used;
}

std::string map_headings(const MapPlan& plan, const ClusterEnd* end) {
  std::string svg;
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    const MapGroup& group = plan.groups[i];
    svg += fmt::format(R"(<text x="0" y="{}"><tspan class="model">{}</tspan> · {}, {}</text>)",
                       position(plan.heading_at[i]), html_escaped(group.name),
                       counted_noun(std::ssize(group.nodes), "node"), counted_noun(group.gpus, "GPU"));
    if (end == nullptr) continue;
    svg += fmt::format(R"(<text x="{}" y="{}" text-anchor="end">{:.2f} % used</text>)", position(kMapWidth),
                       position(plan.heading_at[i]),
                       static_cast<double>(used_milli_of(group, *end)) / (10.0 * static_cast<double>(group.gpus)));
  }
  return svg;
}

/// Every GPU of the list, unused.
ClusterEnd empty_end(const placement::Problem& problem) {
  ClusterEnd end;
  end.nodes.resize(problem.nodes.size());
  for (std::size_t node = 0; node < problem.nodes.size(); ++node) {
    end.nodes[node].is_useful = true;
    end.nodes[node].gpus.resize(static_cast<std::size_t>(problem.nodes[node].gpu_count));
  }
  return end;
}

struct MapWords {
  std::string title;
  std::string remark;
  std::string label;
  bool is_ours = false;
};

std::string panel(const MapWords& words, double height, const std::string& svg) {
  return fmt::format(
      "<figure class=\"map{}\"><figcaption><b>{}</b><span>{}</span></figcaption>"
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}</svg></figure>\n",
      words.is_ours ? " best" : "", words.title, words.remark, kMapWidth, position(height), html_escaped(words.label),
      svg);
}

std::string map_panel(const StudyPage& page, const MapPlan& plan, const MapWords& words, const ClusterEnd* end) {
  const ClusterEnd before = end == nullptr ? empty_end(page.problem) : ClusterEnd();
  const ClusterEnd& shown = end == nullptr ? before : *end;
  const std::string cells =
      plan.has_slices ? slice_bars(plan, shown) : level_cells(plan, shown) + stuck_dots(plan, shown);
  return panel(words, plan.height, map_headings(plan, end) + cells + node_texts(page, plan, end));
}

// Bars, for too many GPUs to draw cells

/// The use of the largest models; the others together.
std::vector<std::pair<std::string, GpusByUse>> use_by_model(const placement::Problem& problem, const ClusterEnd& end) {
  const auto gpus_of = [](const GpusByUse& use) {
    std::int64_t gpus = 0;
    for (const std::int64_t count : use) gpus += count;
    return gpus;
  };
  std::vector<std::pair<std::string, GpusByUse>> models;
  models.reserve(end.by_model.size());
  for (std::size_t i = 0; i < end.by_model.size(); ++i) {
    if (gpus_of(end.by_model[i]) > 0) models.emplace_back(model_label(problem.models[i]), end.by_model[i]);
  }
  sort_stably(models, [&](const auto& model) { return gpus_of(model.second); }, std::greater<>());
  for (std::size_t i = kMapModelsMax; i < models.size(); ++i) {
    for (std::size_t level = 0; level < kUseLevels; ++level)
      models[kMapModelsMax - 1].second[level] += models[i].second[level];
    models[kMapModelsMax - 1].first = "other models";
  }
  models.resize(std::min(models.size(), kMapModelsMax));
  return models;
}

std::string use_bars(const StudyPage& page, const ClusterEnd& end, double& height) {
  constexpr double kRowHeight = 38;
  std::string svg;
  height = 0;
  for (const auto& [name, use] : use_by_model(page.problem, end)) {
    std::int64_t gpus = 0;
    for (const std::int64_t count : use) gpus += count;
    svg += fmt::format(R"(<text x="0" y="{}"><tspan class="model">{}</tspan> · {}</text>)", position(height + 12),
                       html_escaped(name), counted_noun(gpus, "GPU"));
    double left = 0;
    for (std::size_t level = kUseLevels; level > 0; --level) {
      const double width = kMapWidth * static_cast<double>(use[level - 1]) / static_cast<double>(gpus);
      if (use[level - 1] == 0) continue;
      svg +=
          fmt::format(R"(<rect class="use{}" x="{}" y="{}" width="{}" height="14"><title>{}</title></rect>)", level - 1,
                      position(left), position(height + 18), position(width), counted_noun(use[level - 1], "GPU"));
      left += width;
    }
    height += kRowHeight;
  }
  return svg;
}

// The policies shown

/// `berth` and the best other policy; without `berth`, the best two.
std::vector<const PolicyRecord*> mapped_policies(const StudyPage& page) {
  const auto yardstick = placement::yardstick_of(page.results);
  const auto worth = [&](std::size_t i) {
    const placement::PolicyResult& result = page.results[i];
    return yardstick ? (result.*yardstick->figure)->mean : -result.failed->mean;
  };
  std::vector<std::size_t> order(page.results.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  sort_stably(order, worth, std::greater<>());
  std::vector<const PolicyRecord*> mapped;
  mapped.reserve(order.size());
  for (const std::size_t i : order) mapped.push_back(&page.record.policies[i]);
  const auto ours = std::ranges::find(mapped, placement::Policy::kBerth, &PolicyRecord::policy);
  if (ours != mapped.end() && ours - mapped.begin() > 1) mapped[1] = *ours;
  mapped.resize(std::min<std::size_t>(mapped.size(), 2));
  return mapped;
}

std::string slice_counts(const ClusterEnd& end) {
  std::vector<std::string> words;
  words.reserve(end.slices.size());
  for (const auto& [profile, count] : end.slices)
    words.push_back(fmt::format("{} × {}", with_separators(count), profile));
  return fmt::format("{}", fmt::join(words, ", "));
}

double used_percent(const StudyPage& page, const ClusterEnd& end) {
  double used = 0;
  for (const NodeEnd& node : end.nodes) {
    for (const GpuEnd& gpu : node.gpus) used += gpu.used_milli;
  }
  return 100 * used / static_cast<double>(page.problem.capacity_milli());
}

std::string use_key(const MapPlan& plan) {
  constexpr std::array kLevelNames = {"unused", "1–500 milli used", "501–750", "751–900", "901–999", "all 1,000"};
  std::string items;
  if (plan.has_slices) {
    items = key_item(R"(<rect class="barslice" width="16" height="12"/>)", "a slice") +
            key_item(R"(<rect class="barused" width="16" height="12"/>)", "used without slices, as far as filled") +
            key_item(R"(<rect class="barempty" width="16" height="12"/>)", "idle");
  } else {
    for (std::size_t level = 0; level < kUseLevels; ++level) {
      items += key_item(fmt::format(R"(<rect class="use{}" width="16" height="12"/>)", level), kLevelNames[level]);
    }
  }
  if (!plan.has_slices && !plan.strip_at.empty()) {
    items += key_item(
        R"(<rect class="use1" width="16" height="12"/><path class="stuck" style="stroke-width:5" d="M5.5 6h5"/>)",
        "250 milli or more idle on a node where no pod of the list can use any of it");
  }
  return "<ul class=\"key\" aria-label=\"Legend\">" + items + "</ul>";
}

std::string end_panel(const StudyPage& page, const MapPlan& plan, const PolicyRecord& policy) {
  const bool has_cells = !policy.end.nodes.empty();
  const std::string seed = page.options.order == placement::ArrivalOrder::kGiven
                               ? "at the end"
                               : fmt::format("at the end, seed {}", page.options.seeds.front());
  MapWords words{.title = std::string(name_of(policy.policy)),
                 .remark = has_cells ? fmt::format("{}: {:.2f} % used", seed, used_percent(page, policy.end)) : seed,
                 .label = fmt::format("GPUs by use under {}, {}", name_of(policy.policy), seed),
                 .is_ours = policy.policy == placement::Policy::kBerth};
  if (has_cells) return map_panel(page, plan, words, &policy.end);
  double height = 0;
  const std::string bars = use_bars(page, policy.end, height);
  return panel(words, height, bars);
}

}  // namespace

std::string map_figures(const StudyPage& page) {
  const bool has_cells = page.problem.gpu_count <= placement::kEndGpusMax;
  const MapPlan plan = has_cells ? map_plan(page) : MapPlan();
  std::string panels;
  if (has_cells) {
    panels += map_panel(
        page, plan, {.title = "Before", .remark = "the empty cluster", .label = "GPUs of the empty cluster"}, nullptr);
  }
  std::string notes;
  for (const PolicyRecord* policy : mapped_policies(page)) {
    panels += end_panel(page, plan, *policy);
    if (policy->end.slices.empty()) continue;
    notes += fmt::format("<p class=\"note\">Slices under {}: {}.</p>\n", name_of(policy->policy),
                         html_escaped(slice_counts(policy->end)));
  }
  return use_key(plan) + "<div class=\"maps\">\n" + panels + "</div>\n" + notes;
}

}  // namespace berth::report
