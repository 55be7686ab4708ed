#include "serving/figures/usage_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::serving {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kSecondUs = 1'000'000;
constexpr std::int64_t kMinuteStartUs = 1'800'000'000 * kSecondUs;

UsageLines lines_of(int lanes, std::int64_t until_us = 0) {
  return UsageLines::make({.gpu = "cpu@host", .sku = "cpu", .lanes = lanes}, "p", until_us).value();
}

UsageSpan span_of(std::int64_t from_us, std::int64_t to_us, Micros used = Micros(0)) {
  UsageSpan span{.from_us = kMinuteStartUs + from_us, .to_us = kMinuteStartUs + to_us};
  if (used.count() > 0) span.used[{"acme", "m"}] = used;
  return span;
}

TEST(UsageLines, AUseHasTheLaneTimeOfItsSecondByLane) {
  UsageLines lines = lines_of(2);
  EXPECT_EQ(lines.take(std::vector{span_of(0, kSecondUs, Micros(500'001))}),
            R"({"type":"use","id":"p/0","gpu":"cpu@host","slice":"acme/m","weight":250000,"tenant":"acme",)"
            R"("service":"m","role":"inference","from_us":1800000000000000,"to_us":1800000001000000})"
            "\n");
  EXPECT_THAT(lines.take(std::vector{span_of(kSecondUs, 2 * kSecondUs, Micros(1))}), IsEmpty());
  EXPECT_EQ(lines.end(), R"({"type":"gpu","id":"p/1","gpu":"cpu@host","sku":"cpu","capacity":1000000,)"
                         R"("from_us":1800000000000000,"to_us":1800000002000000})"
                         "\n");
  EXPECT_THAT(lines.end(), IsEmpty());
}

TEST(UsageLines, TheDeviceHasALinePerMinute) {
  UsageLines lines = lines_of(1);
  std::vector<UsageSpan> spans = {span_of(500'000, kSecondUs)};
  for (std::int64_t second = 1; second < 60; ++second)
    spans.push_back(span_of(second * kSecondUs, (second + 1) * kSecondUs));
  const std::string minute = lines.take(spans);
  EXPECT_THAT(minute, HasSubstr(R"("from_us":1800000000500000,"to_us":1800000060000000})"));
  EXPECT_EQ(std::ranges::count(minute, '\n'), 1);
  EXPECT_THAT(lines.take(std::vector{span_of(60 * kSecondUs, 61 * kSecondUs)}), IsEmpty());
  // The clock leaps: the part of a minute before it ends there.
  EXPECT_THAT(lines.take(std::vector{span_of(90 * kSecondUs, 91 * kSecondUs)}),
              HasSubstr(R"("from_us":1800000060000000,"to_us":1800000061000000})"));
}

TEST(UsageLines, WhatWasWrittenIsNotWrittenAgain) {
  UsageLines lines = lines_of(1, kMinuteStartUs + 5 * kSecondUs);
  EXPECT_THAT(lines.take(std::vector{span_of(4 * kSecondUs, 5 * kSecondUs, Micros(10))}), IsEmpty());
  EXPECT_THAT(lines.take(std::vector{span_of(5 * kSecondUs, 6 * kSecondUs, Micros(10))}), HasSubstr(R"("weight":10)"));
  EXPECT_THAT(lines.take(std::vector{span_of(5'500'000, 6 * kSecondUs, Micros(10))}), IsEmpty());
}

TEST(UsageLines, TimesThatNoLedgerTakesAreLeftOut) {
  UsageLines lines = lines_of(1);
  EXPECT_THAT(lines.take(std::vector{UsageSpan{.from_us = 1, .to_us = 2, .used = {{{"a", "b"}, Micros(1)}}}}),
              IsEmpty());
  EXPECT_THAT(lines.end(), IsEmpty());
  EXPECT_FALSE(UsageLines::make({.gpu = std::string(129, 'x'), .sku = "x"}, "p", 0));
  EXPECT_FALSE(UsageLines::make({.gpu = "x", .sku = ""}, "p", 0));
}

TEST(UsageLines, AFileSaysUntilWhenItWasWritten) {
  UsageLines lines = lines_of(1);
  std::string text = lines.take(std::vector{span_of(0, kSecondUs, Micros(10))});
  text += "not json\n" + lines.end();
  EXPECT_EQ(usage_written_until(text, "cpu@host"), kMinuteStartUs + kSecondUs);
  EXPECT_EQ(usage_written_until(text, "other"), 0);
  EXPECT_EQ(usage_written_until("", "cpu@host"), 0);
}

}  // namespace
}  // namespace berth::serving
