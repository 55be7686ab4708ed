/// Progress of long work for people: on a terminal one line that is redrawn, elsewhere a line each ten seconds.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "surface/cli/shared/progress_output.h"

namespace berth::cli {

/// The state at one instant.
struct ProgressMoment {
  std::string_view part;  ///< such as a policy
  int part_index = 0;     ///< from 0
  int part_count = 1;
  double done = 0;  ///< of this part, 0 to 1
  std::chrono::seconds elapsed{0};
  std::optional<std::chrono::seconds> left = std::nullopt;  ///< an estimate for all parts together
};
/// For a terminal, without control codes: "static-best  3/6  [####....]  50 %  1:12, about 2:10 left". At most 79
/// columns with a part of up to 29 characters.
[[nodiscard]] std::string progress_line(const ProgressMoment& moment);
/// For a pipe or file: "berth: static-best, 3 of 6: 50 %; 1:12 so far, about 2:10 left".
[[nodiscard]] std::string progress_text(const ProgressMoment& moment);

/// A monotonic clock with an arbitrary origin.
[[nodiscard]] std::chrono::milliseconds steady_now();

/// Draws on a terminal at most ten times per second and clears the line when destroyed; writes a line to other streams
/// each ten seconds, so work that takes less leaves no line there.
class ProgressBar {
 public:
  using Clock = std::function<std::chrono::milliseconds()>;

  /// Parts of equal durations. The clock may have any origin.
  ProgressBar(ProgressOutput output, int part_count, Clock clock);
  /// Parts whose expected durations are in these proportions; each is above 0.
  ProgressBar(ProgressOutput output, std::vector<double> durations, Clock clock);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }

  /// `done` is shown. The time left is estimated from the share of the part's duration that has passed, `passed`.
  void show(std::string_view part, int part_index, double done) { show(part, part_index, done, done); }
  void show(std::string_view part, int part_index, double done, double passed);
  /// A line about a part that is complete. Lines appear together with the progress: a few seconds after the beginning,
  /// so that work that takes less is silent.
  void note(std::string line);
  void clear();

 private:
  static constexpr std::chrono::milliseconds kBetweenDrawings{100};
  static constexpr std::chrono::milliseconds kBetweenLines{10'000};
  static constexpr std::chrono::milliseconds kNotesOnTerminalAfter{2'000};

  void print_notes();
  [[nodiscard]] std::optional<std::chrono::seconds> time_left(int part_index, double passed,
                                                              std::chrono::milliseconds elapsed) const;

  ProgressOutput output_;
  std::vector<double> durations_;
  Clock clock_;
  std::chrono::milliseconds started_at_;
  std::chrono::milliseconds shown_at_;
  bool is_drawn_ = false;
  std::vector<std::string> notes_;  ///< not printed yet
};

}  // namespace berth::cli
