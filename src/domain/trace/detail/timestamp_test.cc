#include "domain/trace/detail/timestamp.h"

#include <gtest/gtest.h>

namespace berth::detail {
namespace {

TEST(ParseTimestamp, ReadsSecondsAndNanos) {
  struct Case {
    std::string_view text;
    Timestamp timestamp;
  };
  for (const Case& wanted : {
           Case{"1970-01-01 00:00:00", {0, 0}},
           Case{"1970-01-02T00:00:01.5", {86'401, 500'000'000}},
           Case{"2023-11-16 18:15:46.6805900", {1'700'158'546, 680'590'000}},
           Case{"2024-05-10 00:00:00.009930+00:00", {1'715'299'200, 9'930'000}},
           Case{"2024-02-29 23:59:59.123456789Z", {1'709'251'199, 123'456'789}},
           Case{"1969-12-31 23:59:59", {-1, 0}},
           Case{"0000-01-01 00:00:00", {-62'167'219'200, 0}},
       }) {
    EXPECT_EQ(parse_timestamp(wanted.text), wanted.timestamp) << wanted.text;
  }
}

TEST(ParseTimestamp, RefusesEverythingElse) {
  for (const std::string_view text : {"",
                                      "2023-11-16",
                                      "2023-11-16 18:15",
                                      "2023-11-16 18:15:4",
                                      "2023-11-16 18:15:46.",
                                      "2023-11-16 18:15:46.1234567890",
                                      "2023-11-16 18:15:46,5",
                                      "2023-11-16 18:15:46+01:00",
                                      "2023-11-16 18:15:46 Z",
                                      "2023-11-16  18:15:46",
                                      "2023-11-16_18:15:46",
                                      "2023-13-16 18:15:46",
                                      "2023-00-16 18:15:46",
                                      "2023-11-31 18:15:46",
                                      "2023-11-00 18:15:46",
                                      "2023-02-29 18:15:46",
                                      "1900-02-29 18:15:46",
                                      "2023-11-16 24:00:00",
                                      "2023-11-16 18:60:46",
                                      "2023-11-16 18:15:60",
                                      "-023-11-16 18:15:46",
                                      "2023/11/16 18:15:46",
                                      "1700158546",
                                      "2023-11-16 18:15:46.5ZZ"}) {
    EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace berth::detail
