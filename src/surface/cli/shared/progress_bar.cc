#include "surface/cli/shared/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace berth::cli {

std::string progress_line(const ProgressMoment& moment) {
  constexpr int kBarWidth = 24;
  const double done = std::isfinite(moment.done) ? std::clamp(moment.done, 0.0, 1.0) : 0.0;
  const int filled = static_cast<int>(done * kBarWidth);
  const auto seconds = moment.elapsed.count();
  return fmt::format("{:<12} {}/{}  [{:#<{}}{:.<{}}] {:3.0f} %  {}:{:02}", moment.policy, moment.policy_index + 1,
                     moment.policy_count, "", filled, "", kBarWidth - filled, std::floor(done * 100), seconds / 60,
                     seconds % 60);
}

std::chrono::milliseconds steady_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

ProgressBar::ProgressBar(std::FILE* stream, int policy_count, Clock clock)
    : stream_(stream),
      policy_count_(policy_count),
      clock_(std::move(clock)),
      started_at_(clock_()),
      drawn_at_(started_at_) {}

void ProgressBar::show(std::string_view policy, int policy_index, double done) {
  if (stream_ == nullptr) return;
  const std::chrono::milliseconds now = clock_();
  if (is_drawn_ && now - drawn_at_ < kBetweenDrawings) return;
  drawn_at_ = now;
  is_drawn_ = true;
  const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(now - started_at_);
  const std::string line = progress_line({.policy = policy,
                                          .policy_index = policy_index,
                                          .policy_count = policy_count_,
                                          .done = done,
                                          .elapsed = elapsed});
  fmt::print(stream_, "\r\033[K{}", line);
  std::fflush(stream_);
}

void ProgressBar::clear() {
  if (!is_drawn_) return;
  fmt::print(stream_, "\r\033[K");
  std::fflush(stream_);
  is_drawn_ = false;
}

}  // namespace berth::cli
