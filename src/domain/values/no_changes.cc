#include "domain/values/no_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace berth {
namespace {

constexpr std::int64_t kMicrosPerMinute = 60 * kMicrosPerSecond;
constexpr std::int64_t kMicrosPerWeek = kMinutesPerWeek * kMicrosPerMinute;
/// 1970-01-01 was a Thursday.
constexpr std::int64_t kMicrosFromMondayToEpoch = std::int64_t{3} * kMinutesPerDay * kMicrosPerMinute;
constexpr std::array<std::string_view, 7> kWeekdays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

/// The non-negative remainder.
std::int64_t within_week(std::int64_t micros) { return (micros % kMicrosPerWeek + kMicrosPerWeek) % kMicrosPerWeek; }

/// Adds [from, until) of the week; a part beyond its end wraps to the beginning.
void add_span(std::vector<WeekSpan>& spans, int from, int until) {
  spans.push_back({.from_minute = from, .until_minute = std::min(until, kMinutesPerWeek)});
  if (until > kMinutesPerWeek) spans.push_back({.from_minute = 0, .until_minute = until - kMinutesPerWeek});
}

/// "mon 08:00"; the end of the week is "sun 24:00".
std::string words_of_minute(int minute) {
  const int day = std::min(minute / kMinutesPerDay, 6);
  const int rest = minute - day * kMinutesPerDay;
  return fmt::format("{} {:02}:{:02}", kWeekdays[static_cast<std::size_t>(day)], rest / 60, rest % 60);
}

}  // namespace

std::span<const std::string_view> weekday_words() { return kWeekdays; }

std::vector<WeekSpan> spans_of(std::span<const DailyWindow> windows) {
  std::vector<WeekSpan> all;
  for (const DailyWindow& window : windows) {
    const int length =
        window.to_minute - window.from_minute + (window.to_minute < window.from_minute ? kMinutesPerDay : 0);
    for (const int day : window.days) {
      const int from = day * kMinutesPerDay + window.from_minute;
      add_span(all, from, from + length);
    }
  }
  std::ranges::sort(all, {}, &WeekSpan::from_minute);
  std::vector<WeekSpan> spans;
  for (const WeekSpan& span : all) {
    if (!spans.empty() && span.from_minute <= spans.back().until_minute) {
      spans.back().until_minute = std::max(spans.back().until_minute, span.until_minute);
    } else {
      spans.push_back(span);
    }
  }
  return spans;
}

bool is_whole_week(std::span<const WeekSpan> spans) {
  return spans.size() == 1 && spans.front() == WeekSpan{.from_minute = 0, .until_minute = kMinutesPerWeek};
}

std::string words_of(std::span<const WeekSpan> spans) {
  if (spans.empty()) return "none";
  // A window across the end of the week is stored as two spans, and printed as one.
  const bool is_over_end =
      spans.size() > 1 && spans.front().from_minute == 0 && spans.back().until_minute == kMinutesPerWeek;
  std::string words;
  for (const WeekSpan& span : spans.subspan(is_over_end ? 1 : 0)) {
    const bool is_last = &span == &spans.back();
    const int until = is_over_end && is_last ? spans.front().until_minute : span.until_minute;
    if (!words.empty()) words += ", ";
    words += fmt::format("{} to {}", words_of_minute(span.from_minute), words_of_minute(until));
  }
  return words;
}

NoChanges no_changes_of(std::vector<WeekSpan> spans, std::int64_t epoch_us) {
  if (spans.empty()) return {};
  return {.week_at_start = Micros(within_week(within_week(epoch_us) + kMicrosFromMondayToEpoch)),
          .spans = std::move(spans)};
}

bool is_sound(const NoChanges& windows) {
  if (windows.spans.empty()) return windows == NoChanges();
  const std::int64_t at_start = windows.week_at_start.count();
  if (at_start < 0 || at_start >= kMicrosPerWeek || is_whole_week(windows.spans)) return false;
  int free_from = 0;
  for (const WeekSpan& span : windows.spans) {
    if (span.from_minute < free_from || span.until_minute <= span.from_minute) return false;
    if (span.until_minute > kMinutesPerWeek) return false;
    free_from = span.until_minute + 1;
  }
  return true;
}

std::optional<Instant> end_of_window(const NoChanges& windows, Instant at) {
  if (windows.spans.empty()) return std::nullopt;
  const std::int64_t in_week = within_week(within_week(at.micros()) + windows.week_at_start.count());
  const auto minute = static_cast<int>(in_week / kMicrosPerMinute);
  const auto after = std::ranges::upper_bound(windows.spans, minute, {}, &WeekSpan::from_minute);
  if (after == windows.spans.begin() || minute >= std::prev(after)->until_minute) return std::nullopt;
  std::int64_t until = std::prev(after)->until_minute;
  const WeekSpan& first = windows.spans.front();
  if (until == kMinutesPerWeek && first.from_minute == 0) until += first.until_minute;
  return at + Micros(until * kMicrosPerMinute - in_week);
}

}  // namespace berth
