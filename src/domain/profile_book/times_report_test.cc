#include "domain/profile_book/times_report.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::profile_book {
namespace {

constexpr const char* kMemory =
    R"({"models":[{"name":"m","version":"1","measured_bytes":7},{"name":"m","version":"1","measured_bytes":5},)"
    R"({"name":"n","version":"2","measured_bytes":null}]})";

std::string times_with(const std::string& from, const std::string& to) {
  std::string text = R"({"started_us":9,"device":"cpu","items":[{"model":"m","version":"1","sha256":")" +
                     std::string(64, 'a') +
                     R"(","batch":2,"count":3,"sum_us":60,"sum_squares":170141183460469231731687303715884},)"
                     R"({"model":"m","version":"2","sha256":null,"batch":2,"count":0,"sum_us":0,"sum_squares":0}]})";
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Result<TimesReport> read(const std::string& times, const std::string& memory = kMemory) {
  return read_times_report({.url = "http://h", .times = times, .memory = memory});
}

TEST(TimesReport, ReadsBothAnswers) {
  const auto report = read(times_with("", ""));
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->started_us, 9);
  EXPECT_EQ(report->url, "http://h");
  ASSERT_EQ(report->items.size(), 1U);
  EXPECT_EQ(report->items[0], (ObservedTimes{.model = "m",
                                             .version = "1",
                                             .sha256 = std::string(64, 'a'),
                                             .device = "cpu",
                                             .batch = 2,
                                             .count = 3,
                                             .sum_us = 60,
                                             .sum_squares = 1.7014118346046923e32}));
  EXPECT_EQ(report->memory, (std::vector<ObservedMemory>{{.model = "m", .version = "1", .bytes = 7}}));
}

TEST(TimesReport, RefusesWhatIsNotAReport) {
  const auto refusal = [](const std::string& from, const std::string& to) {
    const auto report = read(times_with(from, to));
    return report ? "nothing" : report.error().message;
  };
  EXPECT_TRUE(refusal("\"sum_us\":60", "\"sum_us\":NaN").starts_with("http://h/berth/v1/times:1:"));
  EXPECT_EQ(read(times_with("\"sum_us\":60", "\"sum_us\":NaN")).error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(refusal("\"sum_us\":60", "\"sum_us\":null").find("items[0].sum_us"), std::string::npos);
  EXPECT_NE(refusal("\"sum_us\":60", "\"sum_us\":-1").find("items[0].sum_us"), std::string::npos);
  EXPECT_NE(refusal("\"count\":3", "\"count\":3.5").find("items[0].count"), std::string::npos);
  EXPECT_NE(refusal("\"batch\":2", "\"batch\":0").find("items[0].batch"), std::string::npos);
  EXPECT_NE(refusal("\"sum_squares\":17", "\"sum_squares\":-17").find("items[0].sum_squares"), std::string::npos);
  EXPECT_NE(refusal("aaaa", "aa").find("items[0].sha256: wanted 64 hexadecimal digits"), std::string::npos);
  EXPECT_NE(refusal("started_us", "started").find("started_us"), std::string::npos);
  EXPECT_NE(refusal("\"device\":\"cpu\",", "").find("device"), std::string::npos);
  EXPECT_NE(
      refusal("\"version\":\"2\",\"sha256\":null", "\"version\":\"1\",\"sha256\":\"" + std::string(64, 'a') + "\"")
          .find("a second item"),
      std::string::npos);
}

TEST(TimesReport, RefusesABadMemoryAnswer) {
  EXPECT_TRUE(read(times_with("", ""), "<html>").error().message.starts_with("http://h/berth/v1/memory:1:1: "));
  EXPECT_FALSE(read(times_with("", ""), "{}").has_value());
  EXPECT_FALSE(read(times_with("", ""), R"({"models":[{"name":"m","version":"1","measured_bytes":-1}]})").has_value());
}

}  // namespace
}  // namespace berth::profile_book
