#include "surface/report/size_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/decimal.h"
#include "sim/size_comparison.h"
#include "surface/report/page_parts.h"

// The page's parts, put in by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char page_css_begin[];
extern const char page_css_end[];
extern const char size_html_begin[];
extern const char size_html_end[];
}

namespace berth::report {
namespace {

using sim::PolicySize;

constexpr std::string_view kAbsentCell = R"(<span class="absent">–</span>)";

std::string fact(std::string_view term, std::string_view text) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", term, html_escaped(text));
}

std::string facts(const sim::SizeResult& result) {
  return fact("Scenario", result.scenario) + fact("GPU model", result.gpu_model) +
         fact("Share in time, of each service", (result.options.attainment * Decimal(100)).to_string() + " %") +
         fact("Simulated", fmt::format("{} s", result.simulated_seconds)) +
         fact("Seeds", fmt::format("{}", fmt::join(result.options.seeds, ", "))) +
         fact("Tried", "at most " + sim::counted_gpus(result.options.gpus_max));
}

/// A figure with a bar behind it; `share` of the bar's whole width.
std::string barred(std::string_view text, double share) {
  return fmt::format(R"(<span class="cell"><i style="width:{:.1f}%"></i><b>{}</b></span>)",
                     std::clamp(share, 0.0, 1.0) * 100, text);
}

std::string funnel(const sim::Utilisation& used) {
  const auto layer = [](int index, double share) {
    return fmt::format(R"(<i class="f{}" style="width:{:.1f}%"></i>)", index, std::clamp(share, 0.0, 1.0) * 100);
  };
  return fmt::format(
      R"(<span class="funnel"><span class="track">{}{}{}</span><small>{:.0f} › {:.0f} › {:.0f} %</small></span>)",
      layer(0, used.allocated), layer(1, used.busy), layer(2, used.effective), used.allocated * 100, used.busy * 100,
      used.effective * 100);
}

std::string table_cell(std::string_view label, std::string_view markup) {
  return fmt::format(R"(<td data-label="{}">{}</td>)", label, markup);
}

std::string signed_percent(double change) {
  const double percent = std::round(change * 100);
  return percent == 0 ? "0 %" : fmt::format("{:+.0f} %", percent);
}

/// "-25 %" and the effective utilisation below it, against one reference.
std::string against(const sim::SizeResult& result, const PolicySize& policy, std::string_view reference) {
  const auto compared = sim::compare_sizes(result, policy, reference);
  if (!compared) return std::string(kAbsentCell);
  std::string markup = signed_percent(compared->cost_change);
  if (compared->effective_ratio)
    markup += fmt::format("<br><small>{:.2f} × effective</small>", *compared->effective_ratio);
  return markup;
}

std::string cost_markup(const PolicySize& policy, std::int64_t gpus_largest) {
  const double share = static_cast<double>(*policy.gpus) / static_cast<double>(gpus_largest);
  if (!policy.cost_micro_usd) return barred("–", share);
  return barred(fmt::format("${:.4f}", static_cast<double>(*policy.cost_micro_usd) / 1e6), share);
}

std::string policy_row(const sim::SizeResult& result, const PolicySize& policy, std::int64_t gpus_largest) {
  const std::string name =
      fmt::format(R"(<th scope="row">{}{}</th>)", html_escaped(policy.name), policy.is_hindsight ? " *" : "");
  if (!policy.gpus) {
    return fmt::format("<tr>{}<td class=\"infeasible\" colspan=\"6\">{}</td></tr>\n", name,
                       html_escaped(*policy.infeasible));
  }
  const sim::Figures& figures = policy.at_answer->figures;
  const auto goodput = result.objective == Objective::kServices ? figures.goodput_mean_of_services : figures.goodput;
  const auto stable = policy.is_stable == false ? "<br><small>not stable</small>" : "";
  return "<tr>" + name + table_cell("GPUs", fmt::format("{}{}", *policy.gpus, stable)) +
         table_cell("Cost of the run", cost_markup(policy, gpus_largest)) +
         table_cell("Against shared", against(result, policy, "shared")) +
         table_cell("Against whole", against(result, policy, "whole")) +
         table_cell("SM-time", funnel(figures.utilisation)) +
         table_cell("Goodput", goodput ? barred(fmt::format("{:.4f}", *goodput), *goodput) : std::string(kAbsentCell)) +
         "</tr>\n";
}

std::string policy_rows(const sim::SizeResult& result) {
  std::int64_t gpus_largest = 1;
  for (const PolicySize& policy : result.policies) gpus_largest = std::max(gpus_largest, policy.gpus.value_or(1));
  std::string rows;
  for (const PolicySize& policy : result.policies) rows += policy_row(result, policy, gpus_largest);
  return rows;
}

/// Where counts and shares lie in a picture of the counts tried.
struct TriedScale {
  static constexpr double kWidth = 300;
  static constexpr double kHeight = 120;
  static constexpr double kLeft = 42;
  static constexpr double kTop = 8;
  std::int64_t gpus_largest = 1;

  [[nodiscard]] double x_of(std::int64_t gpus) const {
    return kLeft + (kWidth - kLeft - 12) * static_cast<double>(gpus) / static_cast<double>(gpus_largest);
  }
  [[nodiscard]] static double y_of(double share) { return kTop + (kHeight - 24 - kTop) * (1 - share); }
};

std::string level(std::string_view style, double share) {
  return fmt::format(R"(<line class="{0}" x1="{1}" x2="{2}" y1="{3:.1f}" y2="{3:.1f}"/>)", style, TriedScale::kLeft,
                     TriedScale::kWidth, TriedScale::y_of(share));
}

std::string share_axis() {
  std::string svg;
  for (const double share : {0.0, 0.5, 1.0}) {
    svg += level("gridline", share);
    svg += fmt::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{:.0f} %</text>)", TriedScale::kLeft - 4,
                       TriedScale::y_of(share) + 4, share * 100);
  }
  return svg;
}

/// A dot at the smallest share; what cannot run lies at the bottom.
std::string dot(const TriedScale& scale, const sim::CountTrial& trial) {
  const sim::ServiceShare* worst = sim::smallest_share(trial);
  double share = trial.holds ? 1 : 0;
  std::string said = trial.holds ? "no requests" : "cannot run";
  if (worst != nullptr) {
    share = static_cast<double>(worst->in_time) / static_cast<double>(worst->requests);
    said = sim::floored_percent(*worst);
  }
  return fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="4"><title>{}: {}</title></circle>)",
                     trial.holds ? "dot holds" : "dot", scale.x_of(trial.gpus), TriedScale::y_of(share),
                     sim::counted_gpus(trial.gpus), said);
}

/// The counts under the dots, those that find room; the answer always.
std::string count_axis(const TriedScale& scale, const PolicySize& policy) {
  constexpr double kApart = 20;
  std::string svg;
  double labelled_at = -kApart;
  for (const sim::CountTrial& trial : policy.tried) {
    const double x = scale.x_of(trial.gpus);
    const bool is_answer = policy.gpus == trial.gpus;
    const bool is_near_answer = policy.gpus && std::abs(scale.x_of(*policy.gpus) - x) < kApart;
    if (!is_answer && (is_near_answer || x - labelled_at < kApart)) continue;
    labelled_at = x;
    svg += fmt::format(R"(<text class="{}" x="{:.1f}" y="{}" text-anchor="middle">{}</text>)",
                       is_answer ? "label above" : "", x, TriedScale::kHeight - 4, trial.gpus);
  }
  return svg;
}

std::string tried_figure(const sim::SizeResult& result, const PolicySize& policy) {
  const TriedScale scale{.gpus_largest = policy.tried.back().gpus};
  std::string svg = share_axis() + level("cursor", result.options.attainment.to_double()) + count_axis(scale, policy);
  for (const sim::CountTrial& trial : policy.tried) svg += dot(scale, trial);
  return fmt::format(
      "<figure><figcaption><b>{}</b><span>{}</span></figcaption>"
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Share in time of the worst service, by GPUs\">{}</svg>"
      "</figure>\n",
      html_escaped(policy.name), policy.gpus ? sim::counted_gpus(*policy.gpus) : "none holds", TriedScale::kWidth,
      TriedScale::kHeight, svg);
}

}  // namespace

std::string render_size_report(const sim::SizeResult& result) {
  std::string tried;
  for (const PolicySize& policy : result.policies) tried += tried_figure(result, policy);
  return fill_page(embedded(size_html_begin, size_html_end),
                   {{"title", html_escaped(result.scenario)},
                    {"headline", html_escaped(sim::size_headline(result))},
                    {"css", std::string(embedded(page_css_begin, page_css_end))},
                    {"facts", facts(result)},
                    {"rows", policy_rows(result)},
                    {"tried", tried}});
}

}  // namespace berth::report
