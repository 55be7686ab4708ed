/// The contract of the port `SeriesStore`, for the file and the in-memory store.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "domain/ports/testing/memory_series.h"
#include "edges/sqlite_store/series_file.h"
#include "edges/sqlite_store/test_scratch.h"

namespace berth::edges {
namespace {

enum class SeriesKind : std::uint8_t { kMemory, kFile };

class SeriesContract : public ::testing::TestWithParam<SeriesKind> {
 protected:
  void SetUp() override { reopen(); }

  /// As the next process would find it.
  void reopen() {
    store_ = {};
    if (GetParam() == SeriesKind::kMemory) {
      store_ = berth::testing::open_memory_series(memory_);
      return;
    }
    auto opened = open_series_file((scratch_.path / "series.db").string(), {.world_epoch_us = 7});
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }

  void append(const SeriesBatch& batch) {
    const auto appended = store_.writer->append(batch);
    ASSERT_TRUE(appended) << appended.error().message;
  }

  [[nodiscard]] std::vector<SeriesSpan> read(const SeriesQuery& query) {
    auto spans = store_.reader->read(query);
    EXPECT_TRUE(spans) << spans.error().message;
    return spans.value_or(std::vector<SeriesSpan>());
  }

  [[nodiscard]] std::optional<SeriesReader::Range> range(SeriesRing ring) {
    const auto found = store_.reader->range(ring);
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(std::nullopt);
  }

  testing::Scratch scratch_;
  std::shared_ptr<berth::testing::MemorySeries> memory_ = std::make_shared<berth::testing::MemorySeries>();
  SeriesStore store_;
};

ServiceFigures figures_with(std::uint64_t service, std::int64_t second) {
  return {.service = service,
          .requests = second + 10,
          .in_time = 5,
          .late = 2,
          .dropped = 1,
          .accuracy_sum_micro = 4'500'000,
          .queued_max = 3,
          .latencies = {{.bucket = 3, .count = 1}, {.bucket = kLatencyBucketMax, .count = 6}},
          .settled = {{.second = second, .in_time = 3, .accuracy_sum_micro = 2'700'000},
                      {.second = second - 1, .in_time = 2, .late = 2, .dropped = 1, .accuracy_sum_micro = 1'800'000}}};
}

SeriesSpan span_at(std::int64_t second) {
  SeriesSpan span{.second = second,
                  .services = {figures_with(kAllServices, second), figures_with(4, second), figures_with(9, second)},
                  .fleet = FleetFigures{.covered_us = 1'000'000,
                                        .available_us = 8e6,
                                        .allocated_us = 6e6,
                                        .busy_us = 3e6,
                                        .effective_us = 2e6,
                                        .lost_gpus_max = 1}};
  if (second % 2 == 0) span.fleet->micro_usd_per_hour = 5'000'000;
  return span;
}

std::vector<SeriesSpan> spans_at(std::int64_t from, std::int64_t to, std::int64_t step = 1) {
  std::vector<SeriesSpan> spans;
  for (std::int64_t second = from; second < to; second += step) spans.push_back(span_at(second));
  return spans;
}

TEST_P(SeriesContract, AnEmptyOneHasNothing) {
  EXPECT_EQ(range(SeriesRing::kSeconds), std::nullopt);
  EXPECT_TRUE(read({.from = INT64_MIN, .to = INT64_MAX}).empty());
  EXPECT_TRUE(read({.from = INT64_MIN, .to = INT64_MAX, .service = 4}).empty());
}

TEST_P(SeriesContract, WhatWasAppendedIsRead) {
  append({.seconds = spans_at(0, 20)});
  append({.seconds = spans_at(20, 61), .minutes = {span_at(0)}});
  reopen();
  EXPECT_EQ(range(SeriesRing::kSeconds), (SeriesReader::Range{.first = 0, .last = 60}));
  EXPECT_EQ(range(SeriesRing::kMinutes), (SeriesReader::Range{.first = 0, .last = 0}));
  EXPECT_EQ(read({.from = 15, .to = 25}), spans_at(15, 25));
  EXPECT_EQ(read({.ring = SeriesRing::kMinutes, .from = 0, .to = 60}), spans_at(0, 1));
  const std::vector<SeriesSpan> of_one = read({.from = 58, .to = 100, .service = 9});
  ASSERT_EQ(of_one.size(), 3U);
  EXPECT_EQ(of_one[1], (SeriesSpan{.second = 59, .services = {figures_with(9, 59)}}));
  const std::vector<SeriesSpan> of_all = read({.from = 60, .to = 61, .service = kAllServices});
  ASSERT_EQ(of_all.size(), 1U);
  EXPECT_EQ(of_all[0].fleet, span_at(60).fleet);
  EXPECT_EQ(of_all[0].services, (std::vector{figures_with(kAllServices, 60)}));
  EXPECT_TRUE(read({.from = 0, .to = 61, .service = 5}).empty());
}

TEST_P(SeriesContract, ASecondMayBeKnownInPart) {
  const SeriesSpan fleet_only{.second = 3, .fleet = span_at(3).fleet};
  const SeriesSpan service_only{.second = 4, .services = {figures_with(9, 4)}};
  append({.seconds = {fleet_only, service_only}});
  append({.seconds = {{.second = 5, .services = {figures_with(4, 5)}}}});
  append({.seconds = {{.second = 5, .services = {figures_with(9, 5)}}}});
  const std::vector<SeriesSpan> found = read({.from = 0, .to = 9});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], fleet_only);
  EXPECT_EQ(found[1], service_only);
  EXPECT_EQ(found[2].services, (std::vector{figures_with(4, 5), figures_with(9, 5)}));
}

TEST_P(SeriesContract, ASecondThatComesAgainReplacesTheOneBefore) {
  append({.seconds = spans_at(0, 3)});
  SeriesSpan other = span_at(2);
  for (ServiceFigures& each : other.services) each.requests += 1;
  append({.seconds = {other}});
  EXPECT_EQ(read({.from = 2, .to = 3}), (std::vector{other}));
}

TEST_P(SeriesContract, DiscardingRemovesWhatComesOnceMore) {
  append({.seconds = spans_at(0, 200), .minutes = spans_at(0, 180, 60)});
  ASSERT_TRUE(store_.writer->discard_from(120));
  EXPECT_EQ(range(SeriesRing::kSeconds), (SeriesReader::Range{.first = 0, .last = 119}));
  EXPECT_EQ(range(SeriesRing::kMinutes), (SeriesReader::Range{.first = 0, .last = 60}));
  ASSERT_TRUE(store_.writer->discard_from(119));
  EXPECT_EQ(range(SeriesRing::kMinutes), (SeriesReader::Range{.first = 0, .last = 0}));
}

TEST_P(SeriesContract, WhatIsTooOldGoesInTheEnd) {
  append({.seconds = spans_at(0, 300), .minutes = spans_at(0, 300, 60)});
  append({.seconds = spans_at(300, 301), .keep_from = 130});
  EXPECT_EQ(range(SeriesRing::kSeconds), (SeriesReader::Range{.first = 130, .last = 300}));
  EXPECT_EQ(range(SeriesRing::kMinutes), (SeriesReader::Range{.first = 180, .last = 240}));
  for (int i = 0; i < 3; ++i) append({.keep_from = INT64_MAX / 2});
  EXPECT_EQ(range(SeriesRing::kSeconds), std::nullopt);
  EXPECT_EQ(range(SeriesRing::kMinutes), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(All, SeriesContract, ::testing::Values(SeriesKind::kMemory, SeriesKind::kFile),
                         [](const auto& each) { return each.param == SeriesKind::kMemory ? "Memory" : "File"; });

}  // namespace
}  // namespace berth::edges
