#include "surface/pages/pack_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/values/gpu_name.h"
#include "domain/values/scenario.h"
#include "surface/pages/hues.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char pack_html_begin[];
extern const char pack_html_end[];
}

namespace berth::report {
namespace {

/// A problem and its plan, with values that the page needs repeatedly.
struct PackPage {
  const PackingProblem& problem;
  const packing::PackResult& result;
  const study::PackingReplay* replay;
  std::map<std::string, std::size_t> hues;  ///< of the models that have slices, in the order of the demands

  [[nodiscard]] const GpuModel& model_of(GpuId gpu) const {
    return problem.offers[result.packing.gpu_offers[gpu.index]].model;
  }
  [[nodiscard]] bool is_priced() const { return problem.offers.front().micro_usd_per_hour.has_value(); }
  [[nodiscard]] std::string slice_name(const Slice& slice) const {
    return profile_name(model_of(slice.gpu), slice.profile);
  }
};

std::map<std::string, std::size_t> hues_of(const PackingProblem& problem, const Packing& packing) {
  std::vector<bool> has_slice(problem.demands.size());
  for (const PackedSlice& packed : packing.slices) has_slice[packed.demand] = true;
  std::map<std::string, std::size_t> hues;
  for (std::size_t i = 0; i < problem.demands.size(); ++i) {
    if (has_slice[i]) hues.emplace(problem.demands[i].model, hues.size());
  }
  return hues;
}

// Words

std::string money_text(std::int64_t micro_usd) {
  return fmt::format("${:.4f} an hour", static_cast<double>(micro_usd) / 1e6);
}

std::string counted_noun(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// "2 A100-80GB and 1 A30-24GB".
std::string taken_text(const PackPage& page) {
  std::vector<std::int64_t> counts(page.problem.offers.size());
  for (const std::uint32_t offer : page.result.packing.gpu_offers) ++counts[offer];
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " and ", counts[i], page.problem.offers[i].model.name);
  }
  return text;
}

std::string objective_text(const PackPage& page, std::int64_t value) {
  return page.is_priced() ? money_text(value) : counted_noun(value, "GPU");
}

std::string headline_words(const PackPage& page) {
  const packing::PackScore& score = page.result.score;
  if (score.gpus == 0) return "No GPU is needed: no demand has a rate.";
  std::string text = fmt::format("{} {} {}", taken_text(page), score.gpus == 1 ? "serves" : "serve",
                                 counted_noun(std::ssize(page.problem.demands), "demand"));
  if (page.is_priced()) text += " for " + money_text(score.micro_usd_per_hour.value_or(0));
  if (page.result.is_proven)
    return text + (page.is_priced() ? ": proven, no mix is cheaper." : ": proven, fewer cannot.");
  return fmt::format(
      "{}: not proven, at least {} needed.", text,
      objective_text(page, page.result.bound) + (page.is_priced() || page.result.bound == 1 ? " is" : " are"));
}

std::string proven_text(bool is_proven) { return is_proven ? "proven" : "not proven"; }

std::string pack_facts(const PackPage& page) {
  const packing::PackResult& result = page.result;
  const PackingRules& rules = page.problem.rules;
  const auto& free = result.score.largest_free;
  std::string text = fact("GPUs", fmt::format("{}", result.score.gpus));
  if (page.is_priced()) text += fact("Cost", money_text(result.score.micro_usd_per_hour.value_or(0)));
  text += fact("No plan takes less than", fmt::format("{} ({})", objective_text(page, result.bound),
                                                      result.is_proven ? "the plan meets it" : "a gap remains"));
  text += fact("Largest free slice", fmt::format("{} ({} to be the largest)", free ? page.slice_name(*free) : "none",
                                                 proven_text(result.is_largest_free_proven)));
  text += fact("Slices", fmt::format("{} ({} to be the fewest for that free slice)", result.score.slices,
                                     proven_text(result.is_slice_count_proven)));
  text += fact("Nodes searched", fmt::format("{}", result.nodes));
  text += fact("Latency below", rules.slo_factor.to_string() + " × target");
  text += fact("Processes per slice", fmt::format("at most {}", rules.processes_max));
  text += fact("Headroom", rules.headroom.to_string());
  if (rules.keeps_tenants_apart) text += fact("Tenants", "never share a GPU");
  return text;
}

// Colours

std::string legend_items(const PackPage& page) {
  std::vector<const std::string*> names(page.hues.size());
  for (const auto& [name, hue] : page.hues) names[hue] = &name;
  std::string items;
  for (std::size_t hue = 0; hue < names.size(); ++hue) {
    items += fmt::format(R"(<li><svg class="swatch" viewBox="0 0 16 12" aria-hidden="true">{}</svg>{}</li>)",
                         coloured_box(hue, R"(width="16" height="12")"), html_escaped(*names[hue]));
  }
  return items;
}

// Pictures of GPUs

constexpr double kBarWidth = 552;
constexpr double kGpuBarHeight = 42;

/// The position of a slice in the picture of its GPU.
struct BarSpan {
  double left = 0;
  double width = kBarWidth;
};

BarSpan bar_span_of(const GpuModel& model, const Slice& slice) {
  if (slice.profile.is_full() || model.units == 0) return {};
  const double unit = kBarWidth / model.units;
  return {.left = unit * slice.start, .width = unit * model.profiles[slice.profile.index].length};
}

/// Two lines, clipped if they are too long. `style`: of the text.
std::string label_in(const BarSpan& at, std::string_view style, std::string_view first, std::string_view second) {
  return fmt::format(
      R"(<svg x="{:.1f}" y="0" width="{:.1f}" height="{}"><text class="label" x="6" y="17" style="{}">{}</text>)"
      R"(<text class="below" x="6" y="33" style="{}">{}</text></svg>)",
      at.left, at.width - 3, kGpuBarHeight, style, html_escaped(first), style, html_escaped(second));
}

std::string demand_label(const Demand& demand) {
  return demand.tenant == demand.model ? demand.model : demand.tenant + "/" + demand.model;
}

std::string packed_box(const PackPage& page, const PackedSlice& packed) {
  const Demand& demand = page.problem.demands[packed.demand];
  const BarSpan at = bar_span_of(page.model_of(packed.slice.gpu), packed.slice);
  const std::size_t hue = page.hues.at(demand.model);
  const std::string name = page.slice_name(packed.slice);
  const std::string said =
      fmt::format("{} on {}@{}: batch {}, {}, {} requests per second", demand_label(demand), name, packed.slice.start,
                  packed.batch, packed.processes == 1 ? "1 process" : fmt::format("{} processes", packed.processes),
                  packed.requests_per_second.to_string());
  constexpr double kNarrow = 100;
  const std::string below = at.width < kNarrow ? name : fmt::format("{} · {}×{}", name, packed.batch, packed.processes);
  const std::string geometry =
      fmt::format(R"(x="{:.1f}" y="0" width="{:.1f}" height="{}" rx="2")", at.left, at.width - 1, kGpuBarHeight);
  return fmt::format("<g><title>{}</title>{}{}</g>", html_escaped(said), coloured_box(hue, geometry),
                     label_in(at, letters_on(hue), demand_label(demand), below));
}

std::string free_box(const PackPage& page, const Slice& slice) {
  const BarSpan at = bar_span_of(page.model_of(slice.gpu), slice);
  return fmt::format(R"(<rect class="free" x="{:.1f}" y="1" width="{:.1f}" height="{}" rx="2"/>)", at.left + 1,
                     at.width - 2, kGpuBarHeight - 2) +
         label_in(at, "fill:var(--muted)", "free", page.slice_name(slice));
}

/// The slices of each GPU, as pictures.
std::vector<std::string> gpu_pictures(const PackPage& page) {
  std::vector<std::string> pictures(page.result.packing.gpu_offers.size());
  for (const PackedSlice& packed : page.result.packing.slices) {
    pictures[packed.slice.gpu.index] += packed_box(page, packed);
  }
  for (const Slice& slice : page.result.unused) pictures[slice.gpu.index] += free_box(page, slice);
  return pictures;
}

std::string gpu_figures(const PackPage& page) {
  const std::vector<std::string> pictures = gpu_pictures(page);
  const auto& offers = page.result.packing.gpu_offers;
  std::string figures;
  std::size_t drawn = 0;
  for (std::uint32_t first = 0, next = 0; first < pictures.size() && drawn < kPackPicturesMax; first = next, ++drawn) {
    while (next < pictures.size() && pictures[next] == pictures[first] && offers[next] == offers[first]) ++next;
    const std::string names =
        next - first == 1 ? gpu_name({first}) : fmt::format("{} to {}", gpu_name({first}), gpu_name({next - 1}));
    const std::string count = next - first == 1 ? "" : fmt::format("{} × ", next - first);
    figures += fmt::format(
        "<figure><figcaption><b>{}</b><span>{}{}</span></figcaption><svg viewBox=\"0 0 {} {}\" role=\"img\" "
        "aria-label=\"Slices of {}\"><rect class=\"lane\" width=\"{}\" height=\"{}\" rx=\"2\"/>{}</svg></figure>\n",
        names, count, page.problem.offers[offers[first]].model.name, kBarWidth, kGpuBarHeight, names, kBarWidth,
        kGpuBarHeight, pictures[first]);
  }
  return figures;
}

std::string pictures_note(const PackPage& page) {
  const auto gpus = page.result.packing.gpu_offers.size();
  if (gpus <= kPackPicturesMax) return "";
  return fmt::format(" At most {} pictures are drawn; the plan as JSON has all GPUs.", kPackPicturesMax);
}

// Demands

/// Exact if that is short, else with three significant digits.
std::string rate_words(const Decimal& rate) {
  constexpr std::size_t kShort = 9;
  const std::string exact = rate.to_string();
  return exact.size() <= kShort ? exact : fmt::format("{:.3f}", rate.to_double());
}

/// The slices of a demand, summed.
struct DemandGain {
  Decimal given;
  std::map<std::string, int> kinds;  ///< number of slices by profile name
};

std::vector<DemandGain> gains_of(const PackPage& page) {
  std::vector<DemandGain> gains(page.problem.demands.size());
  for (const PackedSlice& packed : page.result.packing.slices) {
    gains[packed.demand].given += packed.requests_per_second;
    ++gains[packed.demand].kinds[page.slice_name(packed.slice)];
  }
  return gains;
}

std::string kinds_words(const DemandGain& gain) {
  std::string text;
  for (const auto& [name, count] : gain.kinds) text += fmt::format("{}{} × {}", text.empty() ? "" : ", ", count, name);
  return text.empty() ? std::string(kAbsentCell) : html_escaped(text);
}

/// A share, rounded down, so that one below a target never looks as if it met the target.
std::string share_words(double share) { return fmt::format("{:.2f} %", std::floor(share * 1e4) / 1e2); }

std::string replay_cells(const PackPage& page, std::size_t index) {
  if (page.replay == nullptr) return "";
  const study::DemandFigures& figures = page.replay->demands[index];
  const auto share = [](const std::optional<double>& value) {
    return value ? barred(share_words(*value), *value) : std::string(kAbsentCell);
  };
  const std::string p99 =
      figures.latency_p99_ms ? fmt::format("{:.1f}", *figures.latency_p99_ms) : std::string(kAbsentCell);
  return table_cell("In time", share(figures.slo_attainment)) + table_cell("p99, ms", p99);
}

std::string demand_row(const PackPage& page, std::size_t index, const DemandGain& gain) {
  const Demand& demand = page.problem.demands[index];
  const Decimal wanted = demand.requests_per_second * page.problem.rules.headroom;
  const bool has_load = gain.given.sign() > 0;
  const double load = has_load ? (demand.requests_per_second / gain.given).to_double() : 0;
  return fmt::format(R"(<tr><th scope="row">{}</th>)", html_escaped(demand_label(demand))) +
         table_cell("Target, ms", rate_words(demand.latency_ms)) +
         table_cell("Rate", rate_words(demand.requests_per_second)) + table_cell("Wanted", rate_words(wanted)) +
         table_cell("Given", rate_words(gain.given)) +
         table_cell("Load", has_load ? barred(share_words(load), load) : std::string(kAbsentCell)) +
         replay_cells(page, index) + table_cell("Slices", kinds_words(gain)) + "</tr>\n";
}

std::string demand_rows(const PackPage& page) {
  const std::vector<DemandGain> gains = gains_of(page);
  std::string rows;
  for (std::size_t i = 0; i < gains.size(); ++i) rows += demand_row(page, i, gains[i]);
  return rows;
}

std::string demand_columns(const PackPage& page) {
  std::string columns;
  const auto add = [&columns](std::string_view name) { columns += column_head(name); };
  for (const std::string_view name : {"Demand", "Target, ms", "Rate, a second", "With headroom", "Given", "Load"}) {
    add(name);
  }
  if (page.replay != nullptr) {
    add("In time");
    add("p99, ms");
  }
  add("Slices");
  return columns;
}

std::string replay_words(const PackPage& page) {
  if (page.replay == nullptr)
    return "Load: the stated rate as a share of the capacity of its slices. --verify replays the plan.";
  return fmt::format(
      "Load: the stated rate as a share of the capacity of its slices. In time and p99: Poisson arrivals at the stated "
      "rates, {} s with each of {} seeds. A plan at full capacity answers late; --headroom adds spare capacity.",
      page.replay->seconds, page.replay->seeds.size());
}

}  // namespace

std::string render_pack_report(const PackingProblem& problem, const packing::PackResult& result,
                               const study::PackingReplay* replay) {
  const PackPage page{.problem = problem, .result = result, .replay = replay, .hues = hues_of(problem, result.packing)};
  const std::string headline = html_escaped(headline_words(page));
  return fill_page(embedded(pack_html_begin, pack_html_end), {{"headline", headline},
                                                              {"facts", pack_facts(page)},
                                                              {"legend", legend_items(page)},
                                                              {"note", pictures_note(page)},
                                                              {"gpus", gpu_figures(page)},
                                                              {"replay", replay_words(page)},
                                                              {"columns", demand_columns(page)},
                                                              {"rows", demand_rows(page)}});
}

}  // namespace berth::report
