#include "surface/report/schedule_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "base/figure_text.h"
#include "surface/report/ledger_cells.h"
#include "surface/report/page_parts.h"

namespace berth::report {
namespace {

using sched::JobIndex;
using sched::JobRun;
using sched::RunCourse;
using sched::Seconds;

constexpr std::size_t kNamedRowsMax = 120;
constexpr double kNamedRowHeight = 15;
constexpr double kAllRowsHeight = 2'400;
constexpr double kPictureHeight = 600;  ///< of the rows of one picture: two of them fit on a printed page
constexpr std::size_t kJobNameMax = 18;

/// How rows are laid out.
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

std::vector<JobIndex> jobs_by_submit(const sched::Workload& workload) {
  std::vector<JobIndex> order;
  order.reserve(workload.jobs.size());
  for (const JobIndex job : indices_of<JobIndex>(workload.jobs)) order.push_back(job);
  std::ranges::sort(order, {}, [&](JobIndex job) { return std::tuple(workload.job(job).submit, job); });
  return order;
}

/// Runs by job; those of one job that follow each other within `gap` are joined.
std::vector<std::vector<JobRun>> joined_runs(const RunCourse& course, std::size_t jobs, Seconds gap) {
  std::vector<std::vector<JobRun>> joined(jobs);
  for (const JobRun& run : course.runs()) {
    std::vector<JobRun>& of_job = joined[static_cast<std::size_t>(run.job)];
    if (!of_job.empty() && run.start - of_job.back().end < gap) {
      of_job.back().end = run.end;
      of_job.back().is_preempted = run.is_preempted;
    } else {
      of_job.push_back(run);
    }
  }
  return joined;
}

/// What the bars of a policy are drawn from.
struct BarPicture {
  const ScheduleView& view;
  const RunCourse& course;
  ChartScale x;
  BarRows rows;
  std::vector<std::vector<JobRun>> runs;  ///< by job
  std::vector<std::int64_t> starts;       ///< by job, also those joined
  Seconds gap = 0;                        ///< interruptions shorter than this are not drawn
};

/// Interruptions narrower than one unit of the picture are joined, and wider ones while there are too many.
BarPicture bar_picture(const ScheduleView& view, const RunCourse& course, const ChartScale& x, const BarRows& rows) {
  const std::size_t jobs = view.workload().jobs.size();
  BarPicture picture{.view = view, .course = course, .x = x, .rows = rows, .runs = {}, .starts = {}};
  picture.starts.resize(jobs);
  for (const JobRun& run : course.runs()) ++picture.starts[static_cast<std::size_t>(run.job)];
  picture.gap = std::max<Seconds>(1, static_cast<Seconds>(x.last / (x.at_last - x.at_first)));
  while (true) {
    picture.runs = joined_runs(course, jobs, picture.gap);
    std::size_t pieces = 0;
    for (const auto& runs : picture.runs) pieces += runs.size();
    if (pieces <= std::max(kBarPiecesMax, jobs)) return picture;
    picture.gap *= 2;
  }
}

std::string bar_title(const BarPicture& picture, JobIndex index) {
  const sched::Workload& workload = picture.view.workload();
  const sched::Job& job = workload.job(index);
  const std::vector<JobRun>& runs = picture.runs[static_cast<std::size_t>(index)];
  const std::int64_t preemptions = picture.starts[static_cast<std::size_t>(index)] - 1;
  std::string text = fmt::format(
      "{} of {}: {} GPU{}, waits {}, takes {} for {}", isolated(workload.job_names[static_cast<std::size_t>(index)]),
      isolated(workload.tenant(job.tenant).name), job.gpus, job.gpus == 1 ? "" : "s",
      duration_words(static_cast<double>(runs.front().start - job.submit)),
      duration_words(static_cast<double>(runs.back().end - job.submit)),
      duration_words(static_cast<double>(job.duration)));
  if (preemptions > 0) text += fmt::format(", {} preemption{}", preemptions, preemptions == 1 ? "" : "s");
  if (job.deadline && runs.back().end > *job.deadline) text += ", late";
  return html_escaped(text);
}

/// The paths of a job in the row at that height.
std::string bar_paths(const BarPicture& picture, JobIndex index, double y) {
  const sched::Job& job = picture.view.workload().job(index);
  const auto at = [&](Seconds time) { return position(picture.x.at(static_cast<double>(time))); };
  std::string waits;
  std::string held;
  std::string restarts;
  std::string stops;
  Seconds before = job.submit;
  for (const JobRun& run : picture.runs[static_cast<std::size_t>(index)]) {
    const std::string left = at(run.start);
    const double width = picture.x.at(static_cast<double>(run.end)) - picture.x.at(static_cast<double>(run.start));
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

std::string bars_svg(const BarPicture& picture, const std::vector<JobIndex>& order, std::size_t first) {
  const std::size_t end = std::min(order.size(), first + picture.rows.per_picture);
  const ChartFrame frame{.left = picture.x.at_first,
                         .right = picture.x.at_last,
                         .top = 6,
                         .bottom = 6 + picture.rows.height * static_cast<double>(end - first),
                         .height = 0};
  const double thick = picture.rows.has_names ? picture.rows.height - 4 : picture.rows.height - 0.8;
  constexpr std::size_t kNumbersApart = 16;
  std::string svg = fmt::format(R"(<path class="axisline" d="M{} {}H{}"/>)", position(frame.left),
                                position(frame.bottom), position(frame.right)) +
                    time_axis(frame, picture.x) + fmt::format(R"(<g class="bars" stroke-width="{}">)", position(thick));
  std::string texts;
  const auto each = static_cast<std::size_t>(round_values(0, 10'000, static_cast<int>(10'000 * picture.rows.height /
                                                                                     kNumbersApart))[1]);
  for (std::size_t row = first; row < end; ++row) {
    const double y = frame.top + picture.rows.height * (static_cast<double>(row - first) + 0.5);
    svg += fmt::format("<g><title>{}</title>{}</g>", bar_title(picture, order[row]),
                       bar_paths(picture, order[row], y));
    const std::string& name = picture.view.workload().job_names[static_cast<std::size_t>(order[row])];
    if (!picture.rows.has_names && (row + 1) % each != 0) continue;
    texts += fmt::format(R"(<text x="{}" y="{}" text-anchor="end">{}</text>)", position(frame.left - 6),
                         position(y + 4),
                         picture.rows.has_names ? short_name(name, kJobNameMax)
                                                : with_separators(static_cast<std::int64_t>(row + 1)));
  }
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Jobs {} to {} over time under {}\">{}</g>{}</svg>",
                     ChartFrame::kWidth, position(frame.bottom + 24), first + 1, end,
                     sched::name_of(picture.course.policy()), svg, texts);
}

std::string bars_remark(const BarPicture& picture) {
  std::string text = picture.rows.has_names ? "in the order of submit" : "numbered in the order of submit";
  const auto gap = static_cast<double>(picture.gap);
  if (picture.gap > 1) text += fmt::format("; interruptions shorter than {} are not drawn", duration_words(gap));
  return text;
}

}  // namespace

std::string job_bars(const ScheduleView& view, std::size_t index) {
  const RunCourse& course = view.course(index);
  const std::size_t jobs = view.workload().jobs.size();
  if (jobs > sched::kCourseJobsMax) {
    return fmt::format("<p class=\"note\">{} jobs: they are drawn one by one in lists of at most {}. --log has each "
                       "start, preemption and finish.</p>\n",
                       with_separators(static_cast<std::int64_t>(jobs)),
                       with_separators(static_cast<std::int64_t>(sched::kCourseJobsMax)));
  }
  if (!course.has_runs()) {
    return fmt::format("<p class=\"note\">Under {} jobs start more than {} times: too often to be drawn. --log has "
                       "each start, preemption and finish.</p>\n",
                       sched::name_of(course.policy()),
                       with_separators(static_cast<std::int64_t>(sched::kCourseRunsMax)));
  }
  const BarRows rows = bar_rows(jobs);
  const ChartFrame frame{.left = rows.has_names ? 134.0 : 46.0};
  const BarPicture picture = bar_picture(view, course, time_scale(view, frame), rows);
  const std::vector<JobIndex> order = jobs_by_submit(view.workload());
  std::string pictures;
  for (std::size_t first = 0; first < order.size(); first += rows.per_picture) {
    pictures += bars_svg(picture, order, first) + "\n";
  }
  const std::int64_t preemptions = view.result(index).preemptions;
  return fmt::format(
      "<figure class=\"chart joblist\"><figcaption><b>{}: {} job{}, {} preemption{}</b><span>{}</span></figcaption><div "
      "class=\"scroll\">{}</div></figure>\n",
      policy_title(course.policy()), with_separators(static_cast<std::int64_t>(jobs)), jobs == 1 ? "" : "s",
      with_separators(preemptions), preemptions == 1 ? "" : "s", bars_remark(picture), pictures);
}

std::string bars_key() {
  return "<ul class=\"key\" aria-label=\"Legend\">" + key_item(R"(<path class="bw" d="M0 6H16"/>)", "waits") +
         key_item(R"(<rect class="held" width="16" height="12"/>)", "holds its GPUs, in the tenant's colour") +
         key_item(R"(<g stroke-width="12"><path class="br" d="M0 6H16"/></g>)", "restarts: no progress") +
         key_item(R"(<g stroke-width="12"><path class="bp" d="M7 6h2"/></g>)", "is preempted") + "</ul>";
}

}  // namespace berth::report
