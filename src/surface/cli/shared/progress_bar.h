/// One line of progress on a terminal: the current task, its progress, the time elapsed.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace berth::cli {

/// The line at one instant, without terminal control codes: "static-best  3/6  [#########...........]  45 %  0:12".
struct ProgressMoment {
  std::string_view policy;
  int policy_index = 0;  ///< from 0
  int policy_count = 1;
  double done = 0;  ///< of this policy, 0 to 1
  std::chrono::seconds elapsed{0};
};
[[nodiscard]] std::string progress_line(const ProgressMoment& moment);

/// A monotonic clock with an arbitrary origin.
[[nodiscard]] std::chrono::milliseconds steady_now();

/// Draws on `stream` if it is a terminal, at most ten times per second, and clears the line when destroyed.
class ProgressBar {
 public:
  using Clock = std::function<std::chrono::milliseconds()>;

  /// `stream` absent: draws nothing. The clock may have any origin.
  ProgressBar(std::FILE* stream, int policy_count, Clock clock);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }

  void show(std::string_view policy, int policy_index, double done);
  void clear();

 private:
  static constexpr std::chrono::milliseconds kBetweenDrawings{100};

  std::FILE* stream_;
  int policy_count_;
  Clock clock_;
  std::chrono::milliseconds started_at_;
  std::chrono::milliseconds drawn_at_;
  bool is_drawn_ = false;
};

}  // namespace berth::cli
