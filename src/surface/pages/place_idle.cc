#include "surface/pages/place_idle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/pages/chart.h"
#include "surface/pages/page_cells.h"

namespace berth::report {
namespace {

using placement::IdleCause;
using placement::kIdleCauseCount;
using placement::PolicyRecord;
using placement::StudyPage;

constexpr std::array kCauseWords = {
    std::string_view("The node has room for the pod: nothing keeps it from using this."),
    std::string_view("The pod has room, but its gang as a whole does not."),
    std::string_view("GPUs and CPU would be enough; the node's free memory is too little."),
    std::string_view("GPUs would be enough; the node's free CPU is too little."),
    std::string_view("GPUs with enough free, but fewer on the node than the pod needs."),
    std::string_view("Enough units are free on the GPU, but the pod's slice has no legal start on them."),
    std::string_view("500 to 999 milli are free on the GPU, less than the pod needs of one."),
    std::string_view("250 to 499 milli are free on the GPU, less than the pod needs of one."),
    std::string_view("100 to 249 milli are free on the GPU, less than the pod needs of one."),
    std::string_view("1 to 99 milli are free on the GPU, less than the pod needs of one."),
    std::string_view("The pod does not accept the GPU's model, or no GPU of it can hold the pod's profile.")};
static_assert(kCauseWords.size() == kIdleCauseCount);

std::vector<IdleCause> causes_of(const StudyPage& page) {
  std::vector<IdleCause> causes;
  causes.reserve(kIdleCauseCount);
  for (std::size_t i = 0; i < kIdleCauseCount; ++i) {
    const auto cause = static_cast<IdleCause>(i);
    const bool occurs = std::ranges::any_of(page.record.policies,
                                            [&](const PolicyRecord& policy) { return policy.idle.of(cause) > 0; });
    if (occurs) causes.push_back(cause);
  }
  return causes;
}

/// Percent of the capacity, mean over the runs.
double percent_of(const StudyPage& page, const PolicyRecord& policy, std::int64_t milli_rows) {
  const double whole = static_cast<double>(page.problem.capacity_milli()) * policy.course.runs() *
                       static_cast<double>(std::max<std::int64_t>(1, policy.idle.rows));
  return 100.0 * static_cast<double>(milli_rows) / whole;
}
double idle_percent(const StudyPage& page, const PolicyRecord& policy) {
  return percent_of(page, policy, policy.idle.idle_milli * std::max<std::int64_t>(1, policy.idle.rows));
}

std::string cause_class(IdleCause cause) { return fmt::format("cause{}", static_cast<int>(cause)); }

std::string idle_row(const StudyPage& page, const PolicyRecord& policy, const ChartScale& x, double top) {
  constexpr double kBarHeight = 18;
  std::string svg = fmt::format(R"(<text class="name{}" x="{}" y="{}" text-anchor="end">{}</text>)",
                                policy.policy == placement::Policy::kBerth ? " ours" : "", position(x.at_first - 8),
                                position(top + 13), name_of(policy.policy));
  std::int64_t before = 0;
  for (const IdleCause cause : causes_of(page)) {
    const std::int64_t part = policy.idle.of(cause);
    if (part == 0) continue;
    const double left = x.at(percent_of(page, policy, before));
    const double right = x.at(percent_of(page, policy, before + part));
    before += part;
    svg += fmt::format(
        R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}"><title>{}: {} {:.2f} % of the GPUs</title></rect>)",
        cause_class(cause), position(left), position(top), position(right - left), kBarHeight, name_of(policy.policy),
        name_of(cause), percent_of(page, policy, part));
  }
  return svg + fmt::format(R"(<text class="figure" x="{}" y="{}">{:.2f} %</text>)",
                           position(x.at(idle_percent(page, policy)) + 7), position(top + 13),
                           idle_percent(page, policy));
}

std::string idle_axis(const ChartFrame& frame, const ChartScale& x) {
  constexpr int kTicks = 6;
  std::string svg;
  for (const double value : round_values(x.first, x.last, kTicks)) {
    svg += fmt::format(R"(<path class="gridline" d="M{} {}V{}"/><text x="{}" y="{}" text-anchor="middle">{} %</text>)",
                       position(x.at(value)), position(frame.top), position(frame.bottom), position(x.at(value)),
                       position(frame.bottom + 16), axis_text(value, ""));
  }
  return svg;
}

std::string idle_key(const StudyPage& page) {
  std::string items;
  for (const IdleCause cause : causes_of(page)) {
    items += key_item(fmt::format(R"(<rect class="{}" width="16" height="12"/>)", cause_class(cause)), name_of(cause));
  }
  return "<ul class=\"key\" aria-label=\"Legend\">" + items + "</ul>";
}

}  // namespace

std::string idle_figure(const StudyPage& page) {
  constexpr double kRowHeight = 27;
  const auto& policies = page.record.policies;
  ChartFrame frame{.left = 100, .right = ChartFrame::kWidth - 70, .top = 6};
  frame.bottom = frame.top + kRowHeight * static_cast<double>(policies.size()) + 2;
  frame.height = frame.bottom + 22;
  double most = 0;
  for (const PolicyRecord& policy : policies) most = std::max(most, idle_percent(page, policy));
  const ChartScale x{.first = 0, .last = most > 0 ? most : 1, .at_first = frame.left, .at_last = frame.right};
  std::string svg = idle_axis(frame, x);
  double top = frame.top + 4;
  for (const PolicyRecord& policy : policies) {
    svg += idle_row(page, policy, x, top);
    top += kRowHeight;
  }
  return idle_key(page) + chart_figure({.title = "Idle at the end, by cause",
                                        .remark = "% of all GPUs",
                                        .label = "Idle share of the GPUs by cause, for each policy",
                                        .height = frame.height,
                                        .svg = svg});
}

std::string idle_table(const StudyPage& page) {
  const std::vector<IdleCause> causes = causes_of(page);
  std::string table = "<div class=\"scroll\"><table id=\"idle\">\n<thead><tr>" + column_head("Policy") +
                      column_head("idle, % of the GPUs");
  for (const IdleCause cause : causes) table += column_head(name_of(cause));
  table += "</tr></thead>\n<tbody>\n";
  for (const PolicyRecord& policy : page.record.policies) {
    table += fmt::format(R"(<tr{} data-rows="{}"><th scope="row">{}</th>)",
                         policy.policy == placement::Policy::kBerth ? R"( class="ours")" : "", policy.idle.rows,
                         name_of(policy.policy)) +
             table_cell("idle, % of the GPUs", fmt::format(R"(<data value="{}"><b>{:.2f}</b></data>)",
                                                           policy.idle.idle_milli, idle_percent(page, policy)));
    for (const IdleCause cause : causes) {
      table += table_cell(name_of(cause), fmt::format(R"(<data value="{}">{:.2f}</data>)", policy.idle.of(cause),
                                                      percent_of(page, policy, policy.idle.of(cause))));
    }
    table += "</tr>\n";
  }
  return table + "</tbody>\n</table></div>";
}

std::string idle_terms(const StudyPage& page) {
  std::string terms;
  for (const IdleCause cause : causes_of(page)) {
    terms += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name_of(cause),
                         kCauseWords[static_cast<std::size_t>(cause)]);
  }
  return terms;
}

}  // namespace berth::report
