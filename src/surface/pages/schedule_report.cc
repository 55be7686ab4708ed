#include "surface/pages/schedule_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/core/figure_text.h"
#include "scheduling/jobs/verdict.h"
#include "surface/figures/schedule_figures.h"
#include "surface/pages/chart.h"
#include "surface/pages/figure_html.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"
#include "surface/pages/schedule_bars.h"
#include "surface/pages/schedule_queue.h"
#include "surface/pages/schedule_usage.h"
#include "surface/pages/schedule_view.h"
#include "surface/pages/schedule_waits.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char schedule_html_begin[];
extern const char schedule_html_end[];
}

namespace berth::report {
namespace {

// The head

std::string schedule_facts(const ScheduleView& view) {
  const sched::Workload& workload = view.workload();
  Int128 work = 0;
  sched::Seconds last_submit = 0;
  for (const sched::Job& job : workload.jobs) {
    work += Int128(job.gpus) * job.duration;
    last_submit = std::max(last_submit, job.submit);
  }
  const double share = static_cast<double>(work) / static_cast<double>(workload.gpus);
  const auto tenants = std::ssize(view.comparison.results.front().tenants);
  return fact("Trace", view.comparison.trace_name) + fact("Jobs", with_separators(std::ssize(workload.jobs))) +
         fact("GPUs", with_separators(workload.gpus)) + fact("Tenants with jobs", with_separators(tenants)) +
         fact("Submitted within", duration_words(static_cast<double>(last_submit))) +
         fact("Work", duration_words(share) + " of all GPUs") +
         fact("No makespan is below", with_separators(sched::makespan_bound(workload)) + " s");
}

std::string schedule_assumption(const sched::Terms& terms) {
  std::string text = fmt::format(
      "Assumed: equal GPUs in one pool; a job runs on all of its GPUs or on none; a start behind a preemption takes {} "
      "s "
      "without progress; las, srpt and fair decide each {} s; lent GPUs come back within {} s",
      with_separators(terms.restart), with_separators(terms.round), with_separators(terms.reclaim));
  if (terms.min_run > 0) text += fmt::format("; no job is preempted in its first {} s", with_separators(terms.min_run));
  return text + ".";
}

// The table

std::string hindsight_note(const sched::Comparison& comparison) {
  const bool has_any =
      std::ranges::any_of(comparison.results, [](const auto& figures) { return sched::has_hindsight(figures.policy); });
  if (!has_any) return "";
  return "  <p class=\"note\">* works in hindsight: it knows how long jobs run, so nobody could have followed "
         "it.</p>\n";
}

// Policies one by one

/// Shows only the parts of the chosen policy.
std::string switch_style(std::size_t policies) {
  std::string style = "@supports selector(:has(*)) {\n#inside .of { display: none; }\n";
  for (std::size_t place = 0; place < policies; ++place) {
    style += fmt::format("#inside:has(#choice{0}:checked) .of{0} {{ display: block; }}\n", place);
  }
  return style + "}\n";
}

std::string policy_chooser(const ScheduleView& view) {
  std::string labels;
  for (std::size_t place = 0; place < view.order.size(); ++place) {
    labels +=
        fmt::format("<label><input type=\"radio\" name=\"policy\" id=\"choice{}\" autocomplete=\"off\"{}> {}</label>\n",
                    place, place == 0 ? " checked" : "", policy_title(view.result(view.order[place]).policy));
  }
  return labels;
}

/// A part of the page for each policy; only one is shown.
template <class PartOf>
std::string switched(const ScheduleView& view, PartOf part_of) {
  std::string parts;
  for (std::size_t place = 0; place < view.order.size(); ++place) {
    parts += fmt::format("<div class=\"of of{}\">\n{}</div>\n", place, part_of(view.order[place]));
  }
  return parts;
}

std::string tenants_note(const ScheduleView& view) {
  if (!view.has_others) return "";
  return fmt::format(" The {} tenants with the most work have a colour; the others are drawn together.",
                     view.members.size());
}

std::string shares_section(const ScheduleView& view) {
  if (!has_shares(view)) return "";
  return "<section aria-labelledby=\"h-shares\">\n  <h2 id=\"h-shares\">Each tenant beside its guarantee and "
         "limit</h2>\n"
         "  <p class=\"lead\">GPUs over time. berth obeys guarantees and limits, fair limits alone, the others "
         "neither. "
         "Grey: groups.</p>\n" +
         share_key() + switched(view, [&](std::size_t index) { return share_figures(view, index); }) + "</section>\n";
}

std::string jobs_section(const ScheduleView& view) {
  const bool is_drawn = view.workload().jobs.size() <= sched::kCourseJobsMax;
  const std::string body =
      is_drawn ? "  <p class=\"lead\">A row for each job. In the colour of its tenant while it holds its GPUs. "
                 "Interruptions too short to be seen are left out.</p>\n" +
                     bars_key(view) + switched(view, [&](std::size_t index) { return job_bars(view, index); })
               : job_bars(view, 0);
  return "<section aria-labelledby=\"h-jobs\">\n  <h2 id=\"h-jobs\">Each job from its submit to its finish</h2>\n" +
         body + "</section>\n";
}

std::string queue_lead(const ScheduleView& view) {
  std::string text = "Each picture shows one policy";
  if (view.order.size() > 1) text += ", the others grey behind it, all on the same scales";
  return text + (has_log_queues(view) ? "; from 1 on they are logarithmic." : ".");
}

}  // namespace

std::string render_schedule_report(const sched::Comparison& comparison) {
  const ScheduleView view = schedule_view(comparison);
  const figures::FigureTable table = figures::schedule_figures(view.workload(), comparison.results);
  return fill_page(embedded(schedule_html_begin, schedule_html_end),
                   {{"title", html_escaped(comparison.trace_name)},
                    {"headline", html_escaped(sched::schedule_verdict(comparison.results))},
                    {"switch", switch_style(view.order.size())},
                    {"facts", schedule_facts(view)},
                    {"assumed", html_escaped(schedule_assumption(comparison.terms))},
                    {"columns", figure_heads(table)},
                    {"rows", figure_rows(table)},
                    {"hindsight", hindsight_note(comparison)},
                    {"queue_lead", queue_lead(view)},
                    {"queues", queue_figures(view)},
                    {"waits", waits_figure(view)},
                    {"chooser", policy_chooser(view)},
                    {"tenants_note", tenants_note(view)},
                    {"usage", switched(view, [&](std::size_t index) { return usage_figure(view, index); })},
                    {"shares", shares_section(view)},
                    {"jobs", jobs_section(view)}});
}

}  // namespace berth::report
