#include "surface/pages/size_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/decimal.h"
#include "sim/study/size_comparison.h"
#include "sim/study/size_remarks.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char size_html_begin[];
extern const char size_html_end[];
}

namespace berth::report {
namespace {

using study::PolicySize;

std::string facts(const study::SizeResult& result) {
  return fact("Scenario", result.scenario) + fact("GPU model", result.gpu_model) +
         fact("Share in time, of each service", (result.options.attainment * Decimal(100)).to_string() + " %") +
         fact("Simulated", fmt::format("{} s", result.simulated_seconds)) +
         fact("Seeds", fmt::format("{}", fmt::join(result.options.seeds, ", "))) +
         fact("Tried", "at most " + study::counted_gpus(result.options.gpus_max));
}

std::string signed_percent(double change) {
  const double percent = std::round(change * 100);
  return percent == 0 ? "0 %" : fmt::format("{:+.0f} %", percent);
}

/// "-25 %" and the ratio of effective utilisation below it, compared with one reference.
std::string against(const study::SizeResult& result, const PolicySize& policy, std::string_view reference) {
  const auto compared = study::compare_sizes(result, policy, reference);
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

/// The share of the worst service at the answer, with the first seed.
std::string worst_share_markup(const PolicySize& policy) {
  const auto answer = std::ranges::find(policy.tried, *policy.gpus, &study::CountTrial::gpus);
  const auto& worst = answer->seeds.front().worst;
  return worst ? html_escaped(study::floored_percent(*worst)) : std::string(kAbsentCell);
}

std::string gpus_markup(const PolicySize& policy) {
  return fmt::format("{}{}{}", policy.is_smallest_proven ? "" : "≤ ", *policy.gpus,
                     policy.is_stable == false ? "<br><small>not stable</small>" : "");
}

std::string policy_row(const study::SizeResult& result, const PolicySize& policy, std::int64_t gpus_largest) {
  const std::string name =
      fmt::format(R"(<th scope="row">{}{}{}</th>)", html_escaped(policy.name), policy.is_hindsight ? " *" : "",
                  policy.gpus && !study::keeps_isolation(policy) ? "<br><small>breaks the isolation</small>" : "");
  if (!policy.gpus) {
    return fmt::format("<tr>{}<td class=\"infeasible\" colspan=\"7\">{}</td></tr>\n", name,
                       html_escaped(*policy.infeasible));
  }
  const measure::Figures& figures = policy.at_answer->figures;
  const auto goodput = result.objective == Objective::kServices ? figures.goodput_mean_of_services : figures.goodput;
  return "<tr>" + name + table_cell("GPUs", gpus_markup(policy)) +
         table_cell("Worst share", worst_share_markup(policy)) +
         table_cell("Cost of the run", cost_markup(policy, gpus_largest)) +
         table_cell("Against shared", against(result, policy, "shared")) +
         table_cell("Against whole", against(result, policy, "whole")) +
         table_cell("SM-time", utilisation_funnel(figures.utilisation)) +
         table_cell("Goodput", goodput ? barred(fmt::format("{:.4f}", *goodput), *goodput) : std::string(kAbsentCell)) +
         "</tr>\n";
}

std::string policy_rows(const study::SizeResult& result) {
  std::int64_t gpus_largest = 1;
  for (const PolicySize& policy : result.policies) gpus_largest = std::max(gpus_largest, policy.gpus.value_or(1));
  std::string rows;
  for (const PolicySize& policy : result.policies) rows += policy_row(result, policy, gpus_largest);
  return rows;
}

/// Remarks on the figures, one line for each policy that has any.
std::string remark_lines(const study::SizeResult& result) {
  std::string lines;
  for (const PolicySize& policy : result.policies) {
    if (!policy.at_answer) continue;  // its row gives the reason
    const measure::PolicyResult& replayed = *policy.at_answer;
    std::vector<std::string> remarks = study::size_remarks_on(result.options, policy);
    if (!replayed.how.empty()) remarks.push_back(replayed.how);
    if (!replayed.ignores.empty())
      remarks.push_back(fmt::format("does not obey {}", fmt::join(constraint_names(replayed.ignores), ", ")));
    remarks.insert(remarks.end(), replayed.notes.begin(), replayed.notes.end());
    if (remarks.empty()) continue;
    lines += fmt::format("<p><b>{}</b> {}</p>\n", html_escaped(policy.name),
                         html_escaped(fmt::format("{}", fmt::join(remarks, "; "))));
  }
  return lines;
}

/// Positions in a picture of the counts tried: the shares by their distance from 100 % on a logarithmic scale, so that
/// a target near 100 % can be read; counts that cannot run are in a strip below.
struct TriedScale {
  static constexpr double kWidth = 300;
  static constexpr double kHeight = 150;
  static constexpr double kLeft = 46;
  static constexpr double kTop = 10;
  static constexpr double kBottom = 112;  ///< a share of 0
  static constexpr double kLane = 124;    ///< counts that cannot run
  std::int64_t gpus_smallest = 1;
  std::int64_t gpus_largest = 1;
  double radius = 4;
  int decades = 1;  ///< of the scale; shares beyond them are drawn as 100 %

  [[nodiscard]] double x_of(std::int64_t gpus) const {
    const auto span = static_cast<double>(std::max<std::int64_t>(1, gpus_largest - gpus_smallest));
    return kLeft + 12 + (kWidth - kLeft - 24) * static_cast<double>(gpus - gpus_smallest) / span;
  }
  [[nodiscard]] double y_of(double share) const {
    const double missing = std::max(1 - share, std::pow(10, -decades - 1));
    const double height = std::min(-std::log10(missing) / decades, 1 + kAboveDecades / decades);
    return kBottom - (kBottom - kTop) * height / (1 + kAboveDecades / decades);
  }

 private:
  static constexpr double kAboveDecades = 0.5;  ///< the distance of 100 % from the last decade, in decades
};

/// The number of decades of the scale: one more than the target needs.
int decades_for(const Decimal& attainment) {
  const double missing = 1 - attainment.to_double();
  if (missing <= 1e-5) return 5;
  return std::clamp(static_cast<int>(std::ceil(-std::log10(missing) - 1e-9)) + 1, 2, 5);
}

std::string level(const TriedScale& scale, std::string_view style, double share) {
  return fmt::format(R"(<line class="{0}" x1="{1}" x2="{2}" y1="{3:.1f}" y2="{3:.1f}"/>)", style, TriedScale::kLeft,
                     TriedScale::kWidth, scale.y_of(share));
}

/// "0 %", "90 %", "99 %", "99.9 %", ..., and "100 %" at the top.
std::string share_axis(const TriedScale& scale) {
  std::string svg;
  for (int decade = 0; decade <= scale.decades + 1; ++decade) {
    const bool is_top = decade > scale.decades;
    const double share = is_top ? 1 : 1 - std::pow(10, -decade);
    const int digits = is_top ? 0 : std::max(0, decade - 2);
    svg += level(scale, "gridline", share);
    svg += fmt::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{:.{}f} %</text>)", TriedScale::kLeft - 4,
                       scale.y_of(share) + 4, share * 100, digits);
  }
  return svg;
}

/// A cross in the strip below.
std::string cannot_run_mark(const TriedScale& scale, const study::CountTrial& trial) {
  const double x = scale.x_of(trial.gpus);
  return fmt::format(R"(<path class="cross" d="M{:.1f} {:.1f}l6 6m0 -6l-6 6"><title>{}: cannot run</title></path>)",
                     x - 3, TriedScale::kLane - 3, study::counted_gpus(trial.gpus));
}

std::string dot(const TriedScale& scale, const study::CountTrial& trial) {
  if (study::why_cannot_run(trial) != nullptr) return cannot_run_mark(scale, trial);
  const study::ServiceAttainment* worst = study::smallest_share(trial);
  const double share =
      worst == nullptr ? 1 : static_cast<double>(worst->in_time) / static_cast<double>(worst->requests);
  const std::string said = worst == nullptr ? "no requests" : study::floored_percent(*worst);
  return fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"><title>{}: {}</title></circle>)",
                     trial.holds ? "dot holds" : "dot", scale.x_of(trial.gpus), scale.y_of(share), scale.radius,
                     study::counted_gpus(trial.gpus), said);
}

/// The counts below the dots, as many as fit; always that of the answer.
std::string count_axis(const TriedScale& scale, const PolicySize& policy) {
  constexpr double kApart = 20;
  std::string svg;
  double labelled_at = -kApart;
  for (const study::CountTrial& trial : policy.tried) {
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

std::string lane_label(const PolicySize& policy) {
  const bool is_used =
      std::ranges::any_of(policy.tried, [](const auto& trial) { return study::why_cannot_run(trial) != nullptr; });
  if (!is_used) return "";
  return fmt::format(R"(<text x="{}" y="{}" text-anchor="end">no run</text>)", TriedScale::kLeft - 4,
                     TriedScale::kLane + 4);
}

std::string answer_words(const PolicySize& policy) {
  if (!policy.gpus) return policy.is_smallest_proven ? "none holds" : "none of those tried holds";
  return (policy.is_smallest_proven ? "" : "at most ") + study::counted_gpus(*policy.gpus);
}

constexpr std::size_t kCrowd = 32;  ///< with this many, dots touch each other

std::string tried_figure(const study::SizeResult& result, const PolicySize& policy) {
  const TriedScale scale{.gpus_smallest = policy.tried.front().gpus,
                         .gpus_largest = policy.tried.back().gpus,
                         .radius = policy.tried.size() > kCrowd ? 2.0 : 4.0,
                         .decades = decades_for(result.options.attainment)};
  std::string svg = share_axis(scale) + lane_label(policy) +
                    level(scale, "cursor", result.options.attainment.to_double()) + count_axis(scale, policy);
  for (const study::CountTrial& trial : policy.tried) svg += dot(scale, trial);
  return fmt::format(
      "<figure><figcaption><b>{}</b><span>{}</span></figcaption>"
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Share in time of the worst service, by GPUs\">{}</svg>"
      "</figure>\n",
      html_escaped(policy.name), answer_words(policy), TriedScale::kWidth, TriedScale::kHeight, svg);
}

}  // namespace

std::string render_size_report(const study::SizeResult& result) {
  std::string tried;
  for (const PolicySize& policy : result.policies) tried += tried_figure(result, policy);
  return fill_page(embedded(size_html_begin, size_html_end), {{"title", html_escaped(result.scenario)},
                                                              {"headline", html_escaped(study::size_headline(result))},
                                                              {"facts", facts(result)},
                                                              {"rows", policy_rows(result)},
                                                              {"remarks", remark_lines(result)},
                                                              {"tried", tried}});
}

}  // namespace berth::report
