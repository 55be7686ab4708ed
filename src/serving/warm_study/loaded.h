/// When an app is loaded, and what that comes to: idle minutes, preloads and cold starts. Whole numbers only.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/trace/app_trace.h"

namespace berth::warm {

/// Minutes [from, to) of a trace.
struct MinuteSpan {
  std::int64_t from = 0;
  std::int64_t to = 0;

  friend bool operator==(const MinuteSpan&, const MinuteSpan&) = default;
};

/// The minutes in which an app is loaded: spans in order that neither overlap nor touch.
class LoadedMinutes {
 public:
  /// Requires: not before the beginning of the last span; spans with `from` >= `to` are dropped.
  void add(MinuteSpan span);
  [[nodiscard]] const std::vector<MinuteSpan>& spans() const { return spans_; }

  friend bool operator==(const LoadedMinutes&, const LoadedMinutes&) = default;

 private:
  std::vector<MinuteSpan> spans_;
};

/// What one app had under a policy.
struct AppCourse {
  std::int64_t cold_starts = 0;
  std::int64_t idle_minutes = 0;
  std::int64_t preloads = 0;

  friend bool operator==(const AppCourse&, const AppCourse&) = default;
};

/// A cold start: invoked while not loaded. An idle minute: loaded, not invoked. A preload: loaded in a minute, neither
/// loaded nor invoked in the one before. O(invoked minutes + spans).
[[nodiscard]] AppCourse course_of(const AppCounts& app, const LoadedMinutes& loaded);

}  // namespace berth::warm
