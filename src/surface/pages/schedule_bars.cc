#include "surface/pages/schedule_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/pages/ledger_cells.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using sched::JobIndex;
using sched::JobRun;
using sched::RunCourse;
using sched::Seconds;

constexpr std::size_t kNamedRowsMax = 120;
constexpr double kNamedRowHeight = 15;
constexpr double kAllRowsHeight = 2'500;
constexpr double kPictureHeight = 600;  ///< of the rows of one picture: two of them fit on a printed page
constexpr int kJobNameMax = 1'120;      // of 126 at size 11

/// The layout of rows.
struct BarRows {
  double height = kNamedRowHeight;
  std::size_t per_picture = 1;
  bool has_names = true;
};

BarRows bar_rows(std::size_t jobs) {
  BarRows rows{.has_names = jobs <= kNamedRowsMax};
  if (!rows.has_names) rows.height = std::clamp(kAllRowsHeight / static_cast<double>(jobs), 3.0, 8.0);
  rows.per_picture = static_cast<std::size_t>(kPictureHeight / rows.height);
  return rows;
}

/// The input for the bars of a policy.
struct BarPicture {
  const ScheduleView& view;
  const RunCourse& course;
  BarRows rows;
  std::vector<std::vector<JobRun>> runs;  ///< by job
};

/// Some rows with a time axis of their own.
struct BarPart {
  std::span<const JobIndex> jobs;
  std::size_t first = 0;  ///< the number of its first row, from 0
  ChartScale x;
  Seconds gap = 1;  ///< shorter interruptions are not drawn
};

std::vector<std::vector<JobRun>> runs_by_job(const RunCourse& course, std::size_t jobs) {
  std::vector<std::vector<JobRun>> runs(jobs);
  for (const JobRun& run : course.runs()) runs[static_cast<std::size_t>(run.job)].push_back(run);
  return runs;
}

/// Joins runs less than `gap` apart.
std::vector<JobRun> joined_runs(const std::vector<JobRun>& runs, Seconds gap) {
  std::vector<JobRun> joined;
  for (const JobRun& run : runs) {
    if (joined.empty() || run.start - joined.back().end >= gap) {
      joined.push_back(run);
    } else {
      joined.back().end = run.end;
      joined.back().is_preempted = run.is_preempted;
    }
  }
  return joined;
}

/// The gap below which runs are joined: one unit of the picture, doubled until there are few enough pieces.
Seconds gap_of(const BarPicture& picture, const BarPart& part) {
  auto gap =
      std::max<Seconds>(1, static_cast<Seconds>((part.x.last - part.x.first) / (part.x.at_last - part.x.at_first)));
  while (true) {
    std::size_t pieces = 0;
    for (const JobIndex job : part.jobs) pieces += joined_runs(picture.runs[static_cast<std::size_t>(job)], gap).size();
    if (pieces <= std::max(kBarPiecesMax, part.jobs.size())) return gap;
    gap *= 2;
  }
}

std::string bar_title(const BarPicture& picture, JobIndex index) {
  const sched::Workload& workload = picture.view.workload();
  const sched::Job& job = workload.job(index);
  const std::vector<JobRun>& runs = picture.runs[static_cast<std::size_t>(index)];
  const std::ptrdiff_t preemptions = std::ssize(runs) - 1;
  std::string text = fmt::format("{} of {}: {} GPU{}, waits {}, takes {} for {}",
                                 isolated(workload.job_names[static_cast<std::size_t>(index)]),
                                 isolated(workload.tenant(job.tenant).name), job.gpus, job.gpus == 1 ? "" : "s",
                                 duration_words(static_cast<double>(runs.front().start - job.submit)),
                                 duration_words(static_cast<double>(runs.back().end - job.submit)),
                                 duration_words(static_cast<double>(job.duration)));
  if (preemptions > 0) text += fmt::format(", {} preemption{}", preemptions, preemptions == 1 ? "" : "s");
  if (job.deadline && runs.back().end > *job.deadline) text += ", late";
  return html_escaped(text);
}

/// The paths of a job in the row at that height.
std::string bar_paths(const BarPicture& picture, const BarPart& part, JobIndex index, double y) {
  const sched::Job& job = picture.view.workload().job(index);
  const auto at = [&](Seconds time) { return position(part.x.at(static_cast<double>(time))); };
  std::string waits;
  std::string held;
  std::string restarts;
  std::string stops;
  Seconds before = job.submit;
  for (const JobRun& run : joined_runs(picture.runs[static_cast<std::size_t>(index)], part.gap)) {
    const std::string left = at(run.start);
    const double width = part.x.at(static_cast<double>(run.end)) - part.x.at(static_cast<double>(run.start));
    if (run.start > before && at(before) != left) {
      fmt::format_to(std::back_inserter(waits), "M{} {}H{}", at(before), position(y), left);
    }
    fmt::format_to(std::back_inserter(held), "M{} {}h{}", left, position(y), position(std::max(width, 1.0)));
    if (run.is_restart) {
      const Seconds ready = std::min(run.end, run.start + picture.view.comparison.terms.restart);
      if (at(ready) != left) fmt::format_to(std::back_inserter(restarts), "M{} {}H{}", left, position(y), at(ready));
    }
    if (run.is_preempted) fmt::format_to(std::back_inserter(stops), "M{} {}h1.4", at(run.end), position(y));
    before = run.end;
  }
  const TenantStyle style = tenant_style(picture.view.hues[static_cast<std::size_t>(job.tenant)]);
  std::string svg;
  const auto put = [&](std::string_view classes, const std::string& path) {
    if (!path.empty()) svg += fmt::format(R"(<path class="{}" d="{}"/>)", classes, path);
  };
  put("bw", waits);
  put("bu " + style.colour, held);
  if (style.pattern) put("bu " + *style.pattern, held);
  put("br", restarts);
  put("bp", stops);
  return svg;
}

/// From the first submission of some jobs to their last finish under any policy, so that pictures can be compared.
ChartScale part_scale(const ScheduleView& view, std::span<const JobIndex> jobs, const ChartFrame& frame) {
  std::vector<bool> is_in(view.workload().jobs.size());
  Seconds first = view.seconds;
  for (const JobIndex job : jobs) {
    is_in[static_cast<std::size_t>(job)] = true;
    first = std::min(first, view.workload().job(job).submit);
  }
  Seconds last = first + 1;
  for (const RunCourse& course : view.comparison.courses) {
    for (const JobRun& run : course.runs()) {
      if (is_in[static_cast<std::size_t>(run.job)]) last = std::max(last, run.end);
    }
  }
  return {.first = static_cast<double>(first),
          .last = static_cast<double>(last),
          .at_first = frame.left,
          .at_last = frame.right};
}

/// "5 d", "+6 h", "+12 h": hours within days, if the usual axis would count only hours.
std::string hours_axis(const ChartFrame& frame, const ChartScale& x) {
  constexpr double kHour = 3'600;
  constexpr int kHoursPerDay = 24;
  int step = 0;
  for (const int hours : {12, 6, 3, 2, 1}) {
    if ((x.last - x.first) / (hours * kHour) <= kTimesMax) step = hours;
  }
  if (step == 0 || x.last < kHoursPerDay * kHour || (x.last - x.first) / kHour < kTimesMax / 2.0)
    return time_axis(frame, x);
  std::string svg;
  for (auto hours = static_cast<std::int64_t>(std::ceil(x.first / kHour / step)) * step;
       static_cast<double>(hours) * kHour <= x.last; hours += step) {
    const double at = x.at(static_cast<double>(hours) * kHour);
    svg += fmt::format(R"(<path class="tickline" d="M{} {}v4"/><text x="{}" y="{}" text-anchor="{}">{}</text>)",
                       position(at), position(frame.bottom), position(at), position(frame.bottom + 18),
                       at > frame.right - 12 ? "end" : "middle",
                       hours % kHoursPerDay == 0 ? fmt::format("{} d", hours / kHoursPerDay)
                                                 : fmt::format("+{} h", hours % kHoursPerDay));
  }
  return svg;
}

/// The name of the job, or the number of its row.
std::string row_text(const BarPicture& picture, std::size_t row, JobIndex job, double x, double y) {
  constexpr std::size_t kNumbersApart = 10;
  if (!picture.rows.has_names && (row + 1) % kNumbersApart != 0) return "";
  const std::string& name = picture.view.workload().job_names[static_cast<std::size_t>(job)];
  return fmt::format(
      R"(<text x="{}" y="{}" text-anchor="end">{}</text>)", position(x), position(y),
      picture.rows.has_names ? short_name(name, kJobNameMax) : with_separators(static_cast<std::int64_t>(row + 1)));
}

std::string bars_remark(const BarPicture& picture) {
  const std::string text = picture.rows.has_names ? "in the order of submit" : "numbered in the order of submit";
  return text + (picture.runs.size() > picture.rows.per_picture ? "; each part has its own time axis" : "");
}

std::string bars_svg(const BarPicture& picture, const BarPart& part) {
  const ChartFrame frame{.left = part.x.at_first,
                         .right = part.x.at_last,
                         .top = 6,
                         .bottom = 6 + picture.rows.height * static_cast<double>(part.jobs.size()),
                         .height = 0};
  const double thick = picture.rows.height - (picture.rows.has_names ? 4 : 0.8);
  std::string svg = fmt::format(R"(<path class="axisline" d="M{} {}H{}"/>)", position(frame.left),
                                position(frame.bottom), position(frame.right)) +
                    hours_axis(frame, part.x) + fmt::format(R"(<g class="bars" stroke-width="{}">)", position(thick));
  std::string texts;
  for (std::size_t row = 0; row < part.jobs.size(); ++row) {
    const double y = frame.top + picture.rows.height * (static_cast<double>(row) + 0.5);
    svg += fmt::format("<g><title>{}</title>{}</g>", bar_title(picture, part.jobs[row]),
                       bar_paths(picture, part, part.jobs[row], y));
    texts += row_text(picture, part.first + row, part.jobs[row], frame.left - 6, y + 4);
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Jobs {} to {} over time under {}\">{}</g>{}</svg>\n",
      ChartFrame::kWidth, position(frame.bottom + 24), part.first + 1, part.first + part.jobs.size(),
      sched::name_of(picture.course.policy()), svg, texts);
}

}  // namespace

std::string job_bars(const ScheduleView& view, std::size_t index) {
  const RunCourse& course = view.course(index);
  const std::size_t jobs = view.workload().jobs.size();
  if (jobs > sched::kCourseJobsMax) {
    return fmt::format(
        "<p class=\"note\">{} jobs: they are drawn one by one in lists of at most {}. --log has each "
        "start, preemption and finish.</p>\n",
        with_separators(static_cast<std::int64_t>(jobs)),
        with_separators(static_cast<std::int64_t>(sched::kCourseJobsMax)));
  }
  if (!course.has_runs()) {
    return fmt::format(
        "<p class=\"note\">Under {} jobs start more than {} times: too often to be drawn. --log has "
        "each start, preemption and finish.</p>\n",
        sched::name_of(course.policy()), with_separators(static_cast<std::int64_t>(sched::kCourseRunsMax)));
  }
  const BarPicture picture{.view = view, .course = course, .rows = bar_rows(jobs), .runs = runs_by_job(course, jobs)};
  const std::vector<JobIndex> order = sched::jobs_by_submit(view.workload());
  const ChartFrame frame{.left = picture.rows.has_names ? 134.0 : 46.0};
  std::string pictures;
  for (std::size_t first = 0; first < order.size(); first += picture.rows.per_picture) {
    const auto part_jobs = std::span(order).subspan(first, std::min(picture.rows.per_picture, order.size() - first));
    BarPart part{.jobs = part_jobs, .first = first, .x = part_scale(view, part_jobs, frame)};
    part.gap = gap_of(picture, part);
    pictures += bars_svg(picture, part);
  }
  const std::int64_t preemptions = view.result(index).preemptions;
  return fmt::format(
      "<figure class=\"chart joblist\"><figcaption><b>{}: {} job{}, {} "
      "preemption{}</b><span>{}</span></figcaption><div "
      "class=\"scroll\">{}</div></figure>\n",
      policy_title(course.policy()), with_separators(static_cast<std::int64_t>(jobs)), jobs == 1 ? "" : "s",
      with_separators(preemptions), preemptions == 1 ? "" : "s", bars_remark(picture), pictures);
}

std::string bars_key(const ScheduleView& view) {
  return "<ul class=\"key\" aria-label=\"Legend\">" + key_item(R"(<path class="bw" d="M0 6H16"/>)", "waits") +
         tenant_key(view) +
         key_item(R"(<g stroke-width="12"><path class="br" d="M0 6H16"/></g>)", "restarts: no progress") +
         key_item(R"(<g stroke-width="12"><path class="bp" d="M7 6h2"/></g>)", "is preempted") + "</ul>";
}

}  // namespace berth::report
