#include "edges/sqlite_store/series_file.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/series_rows.h"
#include "edges/sqlite_store/test_scratch.h"

namespace berth::edges {
namespace {

constexpr std::int64_t kSmall = std::int64_t{1} << 20U;
constexpr std::int64_t kEpoch = 1'700'000'000'000'000;

struct SeriesScratch : testing::Scratch {
  [[nodiscard]] std::string file() const { return (path / "series.db").string(); }
  [[nodiscard]] StoreResult<SeriesStore> open(std::int64_t epoch = kEpoch) const {
    return open_series_file(file(), {.world_epoch_us = epoch, .bytes_max = kSmall});
  }
  [[nodiscard]] StoreFault fault_of_open(std::int64_t epoch = kEpoch) const {
    const auto opened = open(epoch);
    EXPECT_FALSE(opened);
    return opened ? StoreFault::kFailed : opened.error().fault;
  }
  void run(const char* sql) const {
    auto connection = detail::Connection::open(file(), detail::OpenMode::kWrite, "");
    ASSERT_TRUE(connection && connection->execute(sql, "try"));
  }
};

SeriesSpan wide_span(std::int64_t second, std::uint64_t services) {
  SeriesSpan span{.second = second, .fleet = FleetFigures{.covered_us = 1}};
  for (std::uint64_t service = 0; service < services; ++service) {
    ServiceFigures& each = span.services.emplace_back(ServiceFigures{.service = service, .requests = second});
    for (std::uint32_t i = 0; i < 40; ++i) each.latencies.push_back({.bucket = i * 9, .count = 2});
  }
  return span;
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(SeriesFile, NeverGrowsBeyondItsSizeAndMinutesKeepTheirPart) {
  const SeriesScratch scratch;
  auto store = *scratch.open();
  for (std::int64_t second = 0; second < 2400; second += 60) {
    SeriesBatch batch;
    for (std::int64_t each = second; each < second + 60; ++each) batch.seconds.push_back(wide_span(each, 10));
    batch.minutes = {wide_span(second, 10)};
    ASSERT_TRUE(store.writer->append(batch));
  }
  EXPECT_LE(std::filesystem::file_size(scratch.file()), static_cast<std::uint64_t>(kSmall));
  const auto seconds = **store.reader->range(SeriesRing::kSeconds);
  EXPECT_EQ(seconds.last, 2399);
  EXPECT_GT(seconds.first, 1000);
  EXPECT_LT(seconds.first, 2200);
  EXPECT_EQ(**store.reader->range(SeriesRing::kMinutes), (SeriesReader::Range{.first = 0, .last = 2340}));
  // Minutes alone are bounded, too.
  for (std::int64_t minute = 40; minute < 4000; minute += 60) {
    SeriesBatch batch;
    for (std::int64_t each = minute; each < minute + 60; ++each) batch.minutes.push_back(wide_span(each * 60, 10));
    ASSERT_TRUE(store.writer->append(batch));
  }
  EXPECT_LE(std::filesystem::file_size(scratch.file()), static_cast<std::uint64_t>(kSmall));
  EXPECT_GT((**store.reader->range(SeriesRing::kMinutes)).first, 60 * 3000);
  EXPECT_TRUE((*store.reader->range(SeriesRing::kSeconds)).has_value());
}

TEST(SeriesFile, NamesOfManyShortLivesAreBoundedToo) {
  const SeriesScratch scratch;
  auto store = *scratch.open();
  std::uint64_t service = 0;
  for (std::int64_t minute = 0; minute < 40; ++minute) {
    SeriesBatch batch;
    for (std::int64_t second = minute * 60; second < minute * 60 + 60; ++second) {
      SeriesSpan& span = batch.seconds.emplace_back(SeriesSpan{.second = second});
      for (int i = 0; i < 10; ++i) {
        span.services.push_back({.service = ++service, .requests = 1});
        span.names.push_back({.service = service, .tenant = std::string(60, 't'), .name = std::string(60, 'n')});
      }
    }
    ASSERT_TRUE(store.writer->append(batch));
  }
  EXPECT_LE(std::filesystem::file_size(scratch.file()), static_cast<std::uint64_t>(kSmall));
  EXPECT_GT((**store.reader->range(SeriesRing::kSeconds)).last, 2390);
  EXPECT_LT((**store.reader->range(SeriesRing::kSeconds)).first, 2300) << "figures have their part";
}

TEST(SeriesFile, AnotherProgramsALaterAndAnotherWorldsFileAreRefused) {
  const SeriesScratch scratch;
  static_cast<void>(scratch.open());
  EXPECT_EQ(scratch.fault_of_open(kEpoch + 1), StoreFault::kDamaged);
  scratch.run("PRAGMA user_version = 2");
  const std::string later = bytes_of_file(scratch.file());
  EXPECT_EQ(scratch.fault_of_open(), StoreFault::kNewer);
  EXPECT_EQ(bytes_of_file(scratch.file()), later);
  scratch.run("PRAGMA application_id = 5");
  EXPECT_EQ(scratch.fault_of_open(), StoreFault::kForeign);
}

TEST(SeriesFile, WhatIsDamagedIsSetAsideOneAtATime) {
  const SeriesScratch scratch;
  for (const char* content :
       {"first: no database at all, but long enough to have the header of one ......................"
        "..............................................................",
        "second: no database at all, but long enough to have the header of one ....................."
        "..............................................................."}) {
    std::ofstream(scratch.file(), std::ios::binary) << content;
    EXPECT_EQ(scratch.fault_of_open(), StoreFault::kDamaged);
    ASSERT_TRUE(set_series_file_aside(scratch.file()));
    EXPECT_FALSE(std::filesystem::exists(scratch.file()));
    EXPECT_EQ(bytes_of_file(scratch.file() + ".damaged"), content);
  }
  EXPECT_TRUE(scratch.open());
}

/// A flip of any bit of a row is detected.
TEST(SeriesFile, ARowThatIsNotWhatWasWrittenIsNeverReturned) {
  const SeriesScratch scratch;
  ASSERT_TRUE(scratch.open()->writer->append({.seconds = {wide_span(5, 2)}}));
  const std::vector<const char*> changes = {"UPDATE seconds SET requests = requests + 1",
                                            "UPDATE seconds SET checksum = checksum + 1",
                                            "UPDATE seconds SET requests = -1",
                                            "UPDATE seconds SET detail = x'00'",
                                            "UPDATE seconds SET detail = substr(detail, 1, 20)",
                                            "UPDATE seconds SET second = 6",
                                            "UPDATE fleet_seconds SET covered_us = 2",
                                            "UPDATE fleet_seconds SET micro_usd_per_hour = 2"};
  for (const char* change : changes) {
    const std::string before = bytes_of_file(scratch.file());
    scratch.run(change);
    const auto found = scratch.open()->reader->read({.from = 0, .to = 10});
    ASSERT_FALSE(found) << change;
    EXPECT_EQ(found.error().fault, StoreFault::kDamaged);
    std::ofstream(scratch.file(), std::ios::binary | std::ios::trunc) << before;
  }
  EXPECT_TRUE(scratch.open()->reader->read({.from = 0, .to = 10}));
}

TEST(SeriesRows, BytesThatAreNoDetailAreRefused) {
  ServiceFigures figures = wide_span(5, 1).services[0];
  figures.settled = {{.second = 3, .in_time = 1, .accuracy_sum_micro = 700'000}};
  const std::string bytes = detail::detail_bytes(5, figures);
  ServiceFigures back{.requests = figures.requests};
  ASSERT_TRUE(detail::read_detail(bytes, 5, back));
  EXPECT_EQ(back, figures);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(detail::read_detail(bytes.substr(0, length), 5, back)) << length;
  }
  EXPECT_FALSE(detail::read_detail(bytes + '\0', 5, back));
  EXPECT_FALSE(detail::read_detail(std::string(12, '\xff'), 5, back));
  EXPECT_FALSE(detail::read_detail("\xff\xff\xff\xff\x7f", 5, back));
}

}  // namespace
}  // namespace berth::edges
