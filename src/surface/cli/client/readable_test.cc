#include "surface/cli/client/readable.h"

#include <gtest/gtest.h>

#include "base/json/document.h"

namespace berth::cli {
namespace {

TEST(Readable, NumbersHaveAtMostThreeDigitsAfterThePoint) {
  const std::pair<const char*, const char*> cases[] = {{"12", "12"},
                                                       {"100.10", "100.10"},
                                                       {"85.47008547", "85.47"},
                                                       {"0.12345", "0.123"},
                                                       {"0.0004", "<0.001"},
                                                       {"-0.00001", ">-0.001"},
                                                       {"0.0005", "0.001"},
                                                       {"1.99999", "2"},
                                                       {"-1.23456", "-1.235"},
                                                       {"1e-5", "<0.001"},
                                                       {"2.5e2", "250"},
                                                       {"0.00000", "0"},
                                                       {"1e300", "1e300"},
                                                       {"12345678901234567.8901", "12345678901234567.8901"}};
  for (const auto& [number, shown] : cases) EXPECT_EQ(short_number(number), shown) << number;
}

TEST(Readable, TimesEndAtTheMillisecond) {
  const std::pair<const char*, const char*> cases[] = {
      {"2026-11-22T10:00:00.000000Z", "2026-11-22T10:00:00Z"},
      {"2026-11-22T10:00:00.123456Z", "2026-11-22T10:00:00.123Z"},
      {"2026-11-22T10:00:00.100000Z", "2026-11-22T10:00:00.1Z"},
      {"2026-11-22T10:00:00Z", "2026-11-22T10:00:00Z"},
      {"2026-11-22T10:00:00.000Z and more Z", "2026-11-22T10:00:00.000Z and more Z"},
      {"not a time but long.0Z", "not a time but long.0Z"},
      {"", ""}};
  for (const auto& [text, shown] : cases) EXPECT_EQ(short_time(text), shown) << text;
}

TEST(Readable, ValuesInsideOthersAreShortToo) {
  const auto tree = json::parse_document(R"({"a":[0.123456,"2026-11-22T10:00:00.500000Z",null,true,"0.123456"]})", "t");
  ASSERT_TRUE(tree.has_value());
  EXPECT_EQ(readable(*tree), R"({"a":[0.123,"2026-11-22T10:00:00.5Z",null,true,"0.123456"]})");
}

TEST(Readable, AgesHaveTwoUnits) {
  const std::string begin = "2026-11-22T10:00:00.000000Z";
  const std::pair<const char*, const char*> cases[] = {
      {"2026-11-22T10:00:00.999999Z", "0s"}, {"2026-11-22T10:00:45Z", "45s"}, {"2026-11-22T10:03:12Z", "3m12s"},
      {"2026-11-22T11:00:00Z", "1h"},        {"2026-11-22T11:00:59Z", "1h"},  {"2026-11-22T15:30:00Z", "5h30m"},
      {"2026-11-24T14:59:59Z", "2d4h"},      {"2026-11-22T09:59:00Z", "0s"}};
  for (const auto& [now, age] : cases) EXPECT_EQ(age_text(begin, now), age) << now;
  EXPECT_EQ(age_text(std::nullopt, begin), std::nullopt);
  EXPECT_EQ(age_text(begin, std::nullopt), std::nullopt);
  EXPECT_EQ(age_text("T0", begin), std::nullopt);
}

}  // namespace
}  // namespace berth::cli
