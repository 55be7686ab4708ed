#include "domain/values/no_changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "domain/values/frozen.h"

namespace berth {
namespace {

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kDay = 24 * kHour;
/// 2026-11-25 was a Wednesday.
constexpr std::int64_t kWednesday = 1'795'564'800;

DailyWindow window(std::vector<int> days, int from, int to) {
  return {.days = std::move(days), .from_minute = from, .to_minute = to};
}

std::vector<WeekSpan> spans(std::vector<DailyWindow> windows) { return spans_of(windows); }

TEST(NoChanges, OfADayAreOnThatDayInUtc) {
  const NoChanges windows = no_changes_of(spans({window({2}, 8 * 60, 18 * 60)}), kWednesday * kMicrosPerSecond);
  const auto end = Instant::at_second(18 * kHour);
  EXPECT_EQ(end_of_window(windows, Instant::at_second(8 * kHour) - Micros(1)), std::nullopt);
  EXPECT_EQ(end_of_window(windows, Instant::at_second(8 * kHour)), end);
  EXPECT_EQ(end_of_window(windows, end - Micros(1)), end);
  EXPECT_EQ(end_of_window(windows, end), std::nullopt);
  EXPECT_EQ(end_of_window(windows, Instant::at_second(kDay + 9 * kHour)), std::nullopt);
  EXPECT_EQ(end_of_window(windows, Instant::at_second(7 * kDay + 9 * kHour)), end + Micros::seconds(7 * kDay));
  EXPECT_EQ(end_of_window(windows, Instant::at_second(9 * kHour - 7 * kDay)), end - Micros::seconds(7 * kDay));
}

TEST(NoChanges, BeginWhereTheWorldDoes) {
  // Its second 0 is 9 o'clock and half a second.
  const std::int64_t epoch_us = (kWednesday + 9 * kHour) * kMicrosPerSecond + 500'000;
  const NoChanges windows = no_changes_of(spans({window({2}, 8 * 60, 9 * 60 + 1)}), epoch_us);
  EXPECT_EQ(end_of_window(windows, Instant()), Instant(59'500'000));
  EXPECT_EQ(end_of_window(windows, Instant(59'500'000)), std::nullopt);
}

TEST(NoChanges, ThatTouchAreOne) {
  const auto together = spans({window({1}, 600, 660), window({1}, 540, 600), window({1}, 630, 700)});
  EXPECT_EQ(together, (std::vector<WeekSpan>{{.from_minute = 1440 + 540, .until_minute = 1440 + 700}}));
}

TEST(NoChanges, GoOnOverMidnightAndTheEndOfTheWeek) {
  EXPECT_EQ(words_of(spans({window({4}, 22 * 60, 6 * 60)})), "fri 22:00 to sat 06:00");
  const auto over_end = spans({window({6}, 22 * 60, 6 * 60)});
  EXPECT_EQ(over_end.size(), 2U);
  EXPECT_EQ(words_of(over_end), "sun 22:00 to mon 06:00");
  const NoChanges windows = no_changes_of(over_end, (kWednesday + 4 * kDay) * kMicrosPerSecond);  // a Sunday
  EXPECT_EQ(end_of_window(windows, Instant::at_second(23 * kHour)), Instant::at_second(kDay + 6 * kHour));
}

TEST(NoChanges, HaveWords) {
  EXPECT_EQ(words_of({}), "none");
  EXPECT_EQ(words_of(spans({window({0, 4}, 0, kMinutesPerDay)})), "mon 00:00 to tue 00:00, fri 00:00 to sat 00:00");
  EXPECT_EQ(words_of(spans({window({6}, 60, kMinutesPerDay)})), "sun 01:00 to sun 24:00");
}

TEST(NoChanges, FromOutsideAreSoundOrNot) {
  const WeekSpan first{.from_minute = 0, .until_minute = 10};
  EXPECT_TRUE(is_sound({}));
  EXPECT_TRUE(is_sound({.week_at_start = Micros(5), .spans = {first}}));
  EXPECT_TRUE(is_sound({.week_at_start = {}, .spans = {first, {.from_minute = 11, .until_minute = kMinutesPerWeek}}}));
  const std::vector<NoChanges> wrong = {
      {.week_at_start = Micros(5), .spans = {}},
      {.week_at_start = Micros(-1), .spans = {first}},
      {.week_at_start = Micros::seconds(7 * kDay), .spans = {first}},
      {.week_at_start = {}, .spans = {{.from_minute = 0, .until_minute = kMinutesPerWeek}}},
      {.week_at_start = {}, .spans = {{.from_minute = 5, .until_minute = 5}}},
      {.week_at_start = {}, .spans = {{.from_minute = -1, .until_minute = 5}}},
      {.week_at_start = {}, .spans = {{.from_minute = 5, .until_minute = kMinutesPerWeek + 1}}},
      {.week_at_start = {}, .spans = {first, {.from_minute = 10, .until_minute = 20}}},
  };
  for (const NoChanges& each : wrong) EXPECT_FALSE(is_sound(each));
}

// ---- compared with every minute of a week

std::vector<DailyWindow> random_windows(Rng& rng) {
  std::vector<DailyWindow> windows(1 + rng.below(5));
  for (DailyWindow& each : windows) {
    for (int day = 0; day < 7; ++day) {
      if (rng.below(3) == 0) each.days.push_back(day);
    }
    each.from_minute = static_cast<int>(rng.below(kMinutesPerDay));
    each.to_minute = static_cast<int>(rng.below(kMinutesPerDay + 1));
    if (each.to_minute == each.from_minute) ++each.to_minute;
    if (rng.below(4) == 0) each = window({0, 6}, static_cast<int>(rng.below(3)), kMinutesPerDay);
  }
  return windows;
}

/// Minute by minute, as documented.
std::vector<char> minutes_of(const std::vector<DailyWindow>& windows) {
  std::vector<char> is_in(kMinutesPerWeek);
  for (const DailyWindow& each : windows) {
    for (const int day : each.days) {
      int minute = each.from_minute;
      do {
        is_in[static_cast<std::size_t>((day * kMinutesPerDay + minute) % kMinutesPerWeek)] = 1;
        ++minute;
      } while (minute != each.to_minute && minute != each.to_minute + kMinutesPerDay);
    }
  }
  return is_in;
}

TEST(NoChanges, AreThoseOfEveryMinute) {
  constexpr std::int64_t kMinute = 60 * kMicrosPerSecond;
  constexpr std::uint64_t kSeeds = berth::testing::by_build(40, 10);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Rng rng = Rng(seed).split("windows");
    const auto stated = random_windows(rng);
    const std::vector<char> is_in = minutes_of(stated);
    if (std::ranges::find(is_in, 0) == is_in.end()) continue;
    const auto epoch_us = static_cast<std::int64_t>(rng.below(4'000'000'000'000'000));
    const NoChanges windows = no_changes_of(spans_of(stated), epoch_us);
    ASSERT_TRUE(is_sound(windows)) << seed;
    for (std::int64_t i = 0; i < kMinutesPerWeek; ++i) {
      // An instant somewhere in each minute of the world's first week.
      const Instant at(i * kMinute + static_cast<std::int64_t>(rng.below(kMinute)));
      const auto minute_of = [&](Instant when) {  // 1970-01-01 was a Thursday
        const std::int64_t minutes = (epoch_us + when.micros()) / kMinute + std::int64_t{3} * kMinutesPerDay;
        return static_cast<std::size_t>(minutes % kMinutesPerWeek);
      };
      const auto end = end_of_window(windows, at);
      ASSERT_EQ(end.has_value(), is_in[minute_of(at)] != 0) << "seed " << seed << ", minute " << i;
      if (!end) continue;
      ASSERT_GT(*end, at);
      ASSERT_EQ((epoch_us + end->micros()) % kMinute, 0);
      ASSERT_FALSE(is_in[minute_of(*end)] != 0) << "seed " << seed << ", minute " << i;
      for (Instant when = at; when < *end; when = when + Micros(kMinute)) ASSERT_TRUE(is_in[minute_of(when)] != 0);
    }
  }
}

// ---- with frozen windows

TEST(Frozen, TakesAllWindowsTogether) {
  Scenario scenario;
  scenario.frozen = {{.from = Instant::at_second(100), .until = Instant::at_second(120)},
                     {.from = Instant::at_second(50), .until = Instant::at_second(60)},
                     {.from = Instant::at_second(110), .until = Instant::at_second(115)}};
  EXPECT_FALSE(is_frozen(scenario, Instant::at_second(49)));
  EXPECT_EQ(frozen_until(scenario, Instant::at_second(49)), std::nullopt);
  EXPECT_EQ(frozen_until(scenario, Instant::at_second(50)), Instant::at_second(60));
  EXPECT_EQ(frozen_until(scenario, Instant::at_second(60)), std::nullopt);
  EXPECT_EQ(frozen_until(scenario, Instant::at_second(112)), Instant::at_second(120));
  // Second 0 is Wednesday 00:00: [60 s, 120 s) of it.
  scenario.no_changes = no_changes_of(spans({window({2}, 1, 2)}), kWednesday * kMicrosPerSecond);
  EXPECT_TRUE(is_frozen(scenario, Instant::at_second(60)));
  EXPECT_TRUE(is_frozen(scenario, Instant::at_second(119)));
  EXPECT_FALSE(is_frozen(scenario, Instant::at_second(120)));
  EXPECT_EQ(frozen_until(scenario, Instant::at_second(55)), Instant::at_second(120));
  EXPECT_EQ(frozen_until(scenario, Instant::at_second(119)), Instant::at_second(120));
}

}  // namespace
}  // namespace berth
