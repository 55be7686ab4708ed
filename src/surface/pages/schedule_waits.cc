#include "surface/pages/schedule_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "surface/pages/zero_log_scale.h"

namespace berth::report {
namespace {

using sched::RunCourse;
using sched::Seconds;

struct WaitTick {
  double seconds = 0;
  std::string_view text;
};
constexpr std::array kWaitTicks = {WaitTick{.seconds = 1, .text = "1 s"},
                                   WaitTick{.seconds = 10, .text = "10 s"},
                                   WaitTick{.seconds = 60, .text = "1 min"},
                                   WaitTick{.seconds = 600, .text = "10 min"},
                                   WaitTick{.seconds = 3'600, .text = "1 h"},
                                   WaitTick{.seconds = 21'600, .text = "6 h"},
                                   WaitTick{.seconds = 86'400, .text = "1 d"},
                                   WaitTick{.seconds = 432'000, .text = "5 d"},
                                   WaitTick{.seconds = 2'592'000, .text = "30 d"},
                                   WaitTick{.seconds = 17'280'000, .text = "200 d"},
                                   WaitTick{.seconds = 86'400'000, .text = "1000 d"}};

/// The waits of a policy, ascending.
struct WaitLine {
  const RunCourse* course = nullptr;
  std::vector<Seconds> waits;

  [[nodiscard]] double share(std::size_t count) const {
    return static_cast<double>(count) / static_cast<double>(waits.size());
  }
  [[nodiscard]] double share_at_once() const {
    return share(static_cast<std::size_t>(std::ranges::upper_bound(waits, 0) - waits.begin()));
  }
  [[nodiscard]] bool is_ours() const { return course->policy() == sched::Policy::kBerth; }
  /// Its classes, such as "wait wait-las".
  [[nodiscard]] std::string style() const {
    return fmt::format("wait wait-{}{}", sched::name_of(course->policy()), is_ours() ? " ours" : "");
  }
};

std::vector<WaitLine> wait_lines(const ScheduleView& view) {
  std::vector<WaitLine> lines;
  lines.reserve(view.order.size());
  for (const std::size_t index : view.order) {
    const auto waits = view.course(index).waits();
    lines.push_back({.course = &view.course(index), .waits = {waits.begin(), waits.end()}});
    std::ranges::sort(lines.back().waits);
  }
  return lines;
}

/// From 0, linear up to the largest tick not above any positive wait, then logarithmic up to the longest wait.
ZeroLogScale wait_scale(const ChartFrame& frame, const std::vector<WaitLine>& lines) {
  constexpr double kZeroWidth = 46;
  double shortest = kWaitTicks[2].seconds;
  double longest = 0;
  for (const WaitLine& line : lines) {
    const auto above = std::ranges::upper_bound(line.waits, 0);
    if (above != line.waits.end()) shortest = std::min(shortest, static_cast<double>(*above));
    longest = std::max(longest, static_cast<double>(line.waits.back()));
  }
  double least = kWaitTicks.front().seconds;
  for (const WaitTick& tick : kWaitTicks) {
    if (tick.seconds <= shortest) least = tick.seconds;
  }
  return {.least = least,
          .most = std::max(longest, 10 * least),
          .at_zero = frame.left,
          .at_least = frame.left + kZeroWidth,
          .at_most = frame.right};
}

/// A path along the steps, rounded to whole units of the picture.
std::string wait_path(const WaitLine& line, const ZeroLogScale& x, const ChartScale& y) {
  std::string path = fmt::format("M{} {}", position(x.at(0)), position(y.at(line.share_at_once())));
  std::string before;
  for (std::size_t i = 0; i < line.waits.size(); ++i) {
    const bool is_last = i + 1 == line.waits.size();
    const double at = std::ceil(x.at(static_cast<double>(line.waits[i])));
    if (line.waits[i] == 0 || (!is_last && std::ceil(x.at(static_cast<double>(line.waits[i + 1]))) <= at)) continue;
    std::string height = position(y.at(line.share(i + 1)));
    if (height != before) fmt::format_to(std::back_inserter(path), "H{}V{}", position(std::min(at, x.at_most)), height);
    before = std::move(height);
  }
  path += "H" + position(x.at_most);
  return fmt::format(R"(<path class="{}" d="{}"><title>{}: half of the jobs wait at most {}, 99 % at most {}, all at )"
                     R"(most {}</title></path>)",
                     line.style(), path, policy_title(line.course->policy()),
                     duration_words(static_cast<double>(line.waits[(line.waits.size() - 1) / 2])),
                     duration_words(static_cast<double>(line.waits[(line.waits.size() * 99 + 99) / 100 - 1])),
                     duration_words(static_cast<double>(line.waits.back())));
}

std::string wait_axes(const ChartFrame& frame, const ZeroLogScale& x, const ChartScale& y) {
  std::string svg;
  for (const int share : {0, 25, 50, 75, 100}) {
    const double at = y.at(share / 100.0);
    svg += fmt::format(R"(<path class="{}" d="M{} {}H{}"/><text x="{}" y="{}">{} %</text>)",
                       share == 0 ? "axisline" : "gridline", position(frame.left), position(at), position(frame.right),
                       position(frame.right + 7), position(at + 4), share);
  }
  const auto tick = [&](double at, std::string_view text) {
    svg += fmt::format(R"(<path class="gridline" d="M{} {}V{}"/><path class="tickline" d="M{} {}v4"/>)"
                       R"(<text x="{}" y="{}" text-anchor="middle">{}</text>)",
                       position(at), position(frame.top), position(frame.bottom), position(at), position(frame.bottom),
                       position(at), position(frame.bottom + 18), text);
  };
  tick(x.at_zero, "0");
  for (const WaitTick& each : kWaitTicks) {
    if (each.seconds >= x.least && each.seconds <= x.most) tick(x.at(each.seconds), each.text);
  }
  return svg;
}

/// Labels on the left, with the share of the jobs that start at once.
std::string wait_labels(const ChartFrame& frame, const std::vector<WaitLine>& lines, const ChartScale& y) {
  constexpr double kApart = 16;
  std::vector<double> wanted;
  wanted.reserve(lines.size());
  for (const WaitLine& line : lines) wanted.push_back(y.at(line.share_at_once()));
  const std::vector<double> at = spread_labels(wanted, kApart, frame.top, frame.bottom);
  std::string svg;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    svg += fmt::format(R"(<path class="{} leader" d="M{} {}h16L{} {}"/><text class="name{}" x="0" y="{}">{}</text>)"
                       R"(<text class="figure" x="{}" y="{}" text-anchor="end">{:.1f} %</text>)",
                       lines[i].style(), position(frame.left - 34), position(at[i]), position(frame.left),
                       position(wanted[i]), lines[i].is_ours() ? " ours" : "", position(at[i] + 4),
                       policy_title(lines[i].course->policy()), position(frame.left - 42), position(at[i] + 4),
                       lines[i].share_at_once() * 100);
  }
  return svg;
}

}  // namespace

std::string waits_figure(const ScheduleView& view) {
  const ChartFrame frame{.left = 138, .right = ChartFrame::kWidth - 46, .top = 12, .bottom = 282, .height = 306};
  const std::vector<WaitLine> lines = wait_lines(view);
  const ZeroLogScale x = wait_scale(frame, lines);
  const ChartScale y{.first = 0, .last = 1, .at_first = frame.bottom, .at_last = frame.top};
  std::string svg = wait_axes(frame, x, y);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) svg += wait_path(*line, x, y);
  const sched::PolicyFigures& first = view.result(view.order.front());
  const auto words = [](Seconds wait) { return duration_words(static_cast<double>(wait)); };
  const std::string half = first.wait.p50 == 0 ? "start at once" : "wait at most " + words(first.wait.p50);
  return chart_figure({.title = first.wait.max == 0
                                    ? fmt::format("Under {} all jobs start at once", policy_title(first.policy))
                                    : fmt::format("Under {} half of the jobs {}, 99 % wait at most {}",
                                                  policy_title(first.policy), half, words(first.wait.p99)),
                       .remark = "share of the jobs that wait at most so long; at the left those that start at once",
                       .label = "Distribution of waits under each policy",
                       .height = frame.height,
                       .svg = svg + wait_labels(frame, lines, y)});
}

}  // namespace berth::report
