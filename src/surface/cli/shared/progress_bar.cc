#include "surface/cli/shared/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace berth::cli {
namespace {

double clamped_share(double done) { return std::isfinite(done) ? std::clamp(done, 0.0, 1.0) : 0.0; }

/// "1:05", minutes and seconds.
std::string clock_text(std::chrono::seconds time) {
  return fmt::format("{}:{:02}", time.count() / 60, time.count() % 60);
}

std::string left_text(const ProgressMoment& moment) {
  return moment.left ? fmt::format(", about {} left", clock_text(*moment.left)) : "";
}

}  // namespace

std::string progress_line(const ProgressMoment& moment) {
  constexpr int kBarWidthMin = 8;
  constexpr int kBarWidthMax = 24;
  constexpr int kWidthMax = 79;  // a line that wraps cannot be redrawn
  const double done = clamped_share(moment.done);
  const std::string before = fmt::format("{:<12} {}/{}  [", moment.part, moment.part_index + 1, moment.part_count);
  const std::string after =
      fmt::format("] {:3.0f} %  {}{}", std::floor(done * 100), clock_text(moment.elapsed), left_text(moment));
  const int room = kWidthMax - static_cast<int>(before.size() + after.size());
  const int width = std::clamp(room, kBarWidthMin, kBarWidthMax);
  const int filled = static_cast<int>(done * width);
  return fmt::format("{}{:#<{}}{:.<{}}{}", before, "", filled, "", width - filled, after);
}

std::string progress_text(const ProgressMoment& moment) {
  const std::string_view part = moment.part.substr(0, moment.part.find_last_not_of(' ') + 1);
  return fmt::format("berth: {}, {} of {}: {:.0f} %; {} so far{}", part, moment.part_index + 1, moment.part_count,
                     std::floor(clamped_share(moment.done) * 100), clock_text(moment.elapsed), left_text(moment));
}

std::chrono::milliseconds steady_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

ProgressBar::ProgressBar(ProgressOutput output, int part_count, Clock clock)
    : ProgressBar(output, std::vector<double>(static_cast<std::size_t>(part_count), 1.0), std::move(clock)) {}

ProgressBar::ProgressBar(ProgressOutput output, std::vector<double> durations, Clock clock)
    : output_(output),
      durations_(std::move(durations)),
      clock_(std::move(clock)),
      started_at_(clock_()),
      shown_at_(started_at_) {}

void ProgressBar::show(std::string_view part, int part_index, double done, double passed) {
  if (output_.stream == nullptr) return;
  const std::chrono::milliseconds now = clock_();
  const std::chrono::milliseconds elapsed = now - started_at_;
  const bool is_first_drawing = output_.is_terminal && !is_drawn_;
  if (!is_first_drawing && now - shown_at_ < (output_.is_terminal ? kBetweenDrawings : kBetweenLines)) return;
  shown_at_ = now;
  const ProgressMoment moment{.part = part,
                              .part_index = part_index,
                              .part_count = static_cast<int>(durations_.size()),
                              .done = done,
                              .elapsed = std::chrono::duration_cast<std::chrono::seconds>(elapsed),
                              .left = time_left(part_index, passed, elapsed)};
  if (!output_.is_terminal || elapsed >= kNotesOnTerminalAfter) print_notes();
  if (output_.is_terminal) {
    is_drawn_ = true;
    fmt::print(output_.stream, "\r\033[K{}", progress_line(moment));
  } else {
    fmt::print(output_.stream, "{}\n", progress_text(moment));
  }
  std::fflush(output_.stream);
}

std::optional<std::chrono::seconds> ProgressBar::time_left(int part_index, double passed,
                                                           std::chrono::milliseconds elapsed) const {
  constexpr std::chrono::milliseconds kSoonest{2'000};
  constexpr double kLeastShare = 0.01;
  const auto part = durations_.begin() + std::min<std::ptrdiff_t>(part_index, std::ssize(durations_) - 1);
  const double all = std::accumulate(durations_.begin(), durations_.end(), 0.0);
  const double share = (std::accumulate(durations_.begin(), part, 0.0) + *part * clamped_share(passed)) / all;
  if (elapsed < kSoonest || share < kLeastShare) return std::nullopt;
  const double left_ms = static_cast<double>(elapsed.count()) * (1 - share) / share;
  return std::chrono::seconds(std::llround(left_ms / 1000));
}

void ProgressBar::note(std::string line) {
  if (output_.stream != nullptr) notes_.push_back(std::move(line));
}

void ProgressBar::print_notes() {
  if (notes_.empty()) return;
  clear();
  for (const std::string& line : notes_) fmt::print(output_.stream, "{}\n", line);
  notes_.clear();
}

void ProgressBar::clear() {
  if (!is_drawn_) return;
  fmt::print(output_.stream, "\r\033[K");
  std::fflush(output_.stream);
  is_drawn_ = false;
}

}  // namespace berth::cli
