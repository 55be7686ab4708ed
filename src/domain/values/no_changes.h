/// Windows without changes: parts of every week, in UTC, in which no change of the fleet may begin.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"

namespace berth {

inline constexpr int kMinutesPerDay = 24 * 60;
inline constexpr int kMinutesPerWeek = 7 * kMinutesPerDay;

/// The days of the week, in order: "mon" .. "sun".
[[nodiscard]] std::span<const std::string_view> weekday_words();

/// A window as people state it, on each of its days: [from, to) of that day, or, where `to` is before `from`, until
/// `to` of the next day.
struct DailyWindow {
  std::vector<int> days;  ///< 0 (Monday) .. 6
  int from_minute = 0;    ///< of the day: 0 .. 1439
  int to_minute = 0;      ///< of the day: 0 .. 1440; not `from_minute`
};

/// A part of the week: [from, until).
struct WeekSpan {
  int from_minute = 0;   ///< since Monday 00:00 UTC: 0 .. 10079
  int until_minute = 0;  ///< 1 .. 10080
  friend bool operator==(const WeekSpan&, const WeekSpan&) = default;
};

/// The union of the windows: ascending spans, none of which touches the next. O(n log n) of the days of all windows.
[[nodiscard]] std::vector<WeekSpan> spans_of(std::span<const DailyWindow> windows);
/// Whether the spans are all of the week.
[[nodiscard]] bool is_whole_week(std::span<const WeekSpan> spans);
/// "mon 08:00 to mon 18:00, sun 22:00 to mon 06:00", in UTC; "none".
[[nodiscard]] std::string words_of(std::span<const WeekSpan> spans);

/// The windows that a world obeys.
struct NoChanges {
  Micros week_at_start;         ///< time since Monday 00:00 UTC at the world's second 0; 0 without spans
  std::vector<WeekSpan> spans;  ///< as returned by spans_of; not the whole week
  friend bool operator==(const NoChanges&, const NoChanges&) = default;
};

/// `epoch_us`: the wall time of the world's second 0, in microseconds since 1970.
[[nodiscard]] NoChanges no_changes_of(std::vector<WeekSpan> spans, std::int64_t epoch_us);
/// Whether the values satisfy the comments of NoChanges: for input from outside.
[[nodiscard]] bool is_sound(const NoChanges& windows);
/// The end of the window that the instant is in, always later than it; nothing: no window holds it. O(log spans).
[[nodiscard]] std::optional<Instant> end_of_window(const NoChanges& windows, Instant at);

}  // namespace berth
