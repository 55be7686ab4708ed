#include "edges/figure_recorder/figure_recorder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/core/rng.h"
#include "ledger/books/testing/line_ledger.h"

namespace berth::edges {
namespace {

using serving::EndedFigures;
using serving::FigureBook;
using serving::LaneIndex;
using serving::ModelIndex;
using serving::Request;
using serving::TenantIndex;
using ::testing::HasSubstr;

constexpr std::int64_t kRecorderEpochUs = 1'800'000'000'000'000;

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "berth_figures_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~RecorderTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  [[nodiscard]] FigureFileOptions options(const std::string& id_prefix, int lanes = 2) const {
    return {.series = path("series"),
            .usage = path("usage"),
            .device = {.gpu = "cpu@host", .sku = "cpu", .lanes = lanes},
            .id_prefix = id_prefix};
  }
  std::filesystem::path folder_;
};

/// Everything at once, as FigureRecorder writes it each second.
void write_usage(FigureFiles::Usage& usage, FigureBook& book, Instant now, bool is_last) {
  std::string lines = usage.lines.take(book.take_ended(now, is_last).spans);
  if (is_last) lines += usage.lines.end();
  ASSERT_TRUE(usage.file.append(lines));
}

/// A server's life: batches of random length, and a wall clock that is sometimes set. Returns when it ended.
std::int64_t live(FigureFiles::Usage& usage, std::int64_t wall_us, int lanes, Rng& rng) {
  FigureBook book({"acme", "beta"}, lanes);
  Instant now(static_cast<std::int64_t>(rng.below(1'000'000)));
  book.learn_wall_time(now, Micros(wall_us));
  book.keep_ended(now);
  std::int64_t offset_us = wall_us - now.micros();
  for (const int index : {0, 1}) book.add_model(ModelIndex(index), fmt::format("m{}", index), "1", now);
  std::vector<std::optional<serving::RunningBatch>> running(static_cast<std::size_t>(lanes));
  std::int64_t number = 0;
  for (int step = 0; step < 300; ++step) {
    now = now + Micros(static_cast<std::int64_t>(rng.below(700'000)));
    const LaneIndex lane(static_cast<int>(rng.below(static_cast<std::uint64_t>(lanes))));
    auto& batch = running[static_cast<std::size_t>(lane)];
    if (batch) {
      book.end_batch(lane, *batch, std::vector<bool>(batch->requests.size(), true), now - batch->start, now);
      batch.reset();
    } else {
      const ModelIndex model(static_cast<int>(rng.below(2)));
      std::vector<Request> requests;
      for (std::uint64_t i = 0; i <= rng.below(4); ++i) {
        requests.push_back({.number = ++number,
                            .model = model,
                            .tenant = TenantIndex(static_cast<int>(rng.below(2))),
                            .arrival = now,
                            .target = Micros(1)});
        book.arrive(model, requests.back().tenant, now);
      }
      book.start_batch(lane, model, requests, now);
      const auto rows = static_cast<int>(requests.size());
      batch = serving::RunningBatch{
          .model = model, .requests = std::move(requests), .rows = rows, .start = now, .end = now};
    }
    if (rng.below(60) == 0) offset_us += static_cast<std::int64_t>(rng.below(20'000'000)) - 10'000'000;
    if (rng.below(3) == 0) {
      book.learn_wall_time(now, Micros(now.micros() + offset_us));
      write_usage(usage, book, now, false);
    }
  }
  book.learn_wall_time(now, Micros(now.micros() + offset_us));
  write_usage(usage, book, now, true);
  return now.micros() + offset_us;
}

void wait_for(const std::atomic<int>& calls, int count) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (calls < count && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
}

TEST_F(RecorderTest, TheLedgerRefusesNoUsage) {
  Rng rng(7);
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove(path("usage"));
    std::int64_t wall_us = kRecorderEpochUs + static_cast<std::int64_t>(rng.below(100'000'000));
    const int lanes = 1 + static_cast<int>(rng.below(3));
    for (int life = 0; life < 4; ++life) {
      auto files = open_figure_files(options(fmt::format("{}-{}", round, life), lanes));
      ASSERT_TRUE(files) << files.error().message;
      wall_us = live(*files->usage, wall_us, lanes, rng);
      // The next one begins soon, or before this one ended.
      wall_us += static_cast<std::int64_t>(rng.below(4'000'000)) - 1'000'000;
    }
    ledger::testing::LineLedger books;
    std::istringstream lines(content(path("usage")));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      ASSERT_EQ(books.take(line), ledger::Verdict::kAccepted) << line;
    }
    EXPECT_GT(count, 100);
    EXPECT_EQ(books.report().unbacked_us, 0);
  }
}

TEST_F(RecorderTest, WritesEachSecondAndAtTheEnd) {
  auto files = open_figure_files(options("p"));
  ASSERT_TRUE(files);
  std::atomic<int> calls = 0;
  {
    FigureRecorder recorder({.files = *std::move(files),
                             .take =
                                 [&](bool is_last) {
                                   ++calls;
                                   EndedFigures ended;
                                   ended.seconds.push_back(
                                       {.second = is_last ? 2 : 1, .model = "m", .version = "1", .figures = {}});
                                   return ended;
                                 },
                             .report = [](const std::string&) { FAIL(); }});
    wait_for(calls, 2);
  }
  EXPECT_GE(calls, 3);
  EXPECT_THAT(content(path("series")), HasSubstr(R"({"second":1,"model":"m","version":"1",)"));
  EXPECT_THAT(content(path("series")), HasSubstr(R"({"second":2,)"));
}

TEST_F(RecorderTest, AFullDiskIsReportedOnce) {
  int reports = 0;
  auto files = open_figure_files({.series = "/dev/full"});
  if (!files) GTEST_SKIP() << "no /dev/full";
  std::atomic<int> calls = 0;
  {
    FigureRecorder recorder({.files = *std::move(files),
                             .take =
                                 [&](bool) {
                                   ++calls;
                                   return EndedFigures{
                                       .seconds = {{.second = 1, .model = "m", .version = "1", .figures = {}}}};
                                 },
                             .report =
                                 [&](const std::string& message) {
                                   ++reports;
                                   EXPECT_THAT(message, HasSubstr("/dev/full: cannot write: No space left"));
                                 }});
    wait_for(calls, 1);
  }
  EXPECT_GE(calls, 2);
  EXPECT_EQ(reports, 1);
}

TEST_F(RecorderTest, WhatCannotBeOpenedIsUnavailable) {
  for (const std::string& bad : {path("none/file"), folder_.string()}) {
    const auto files = open_figure_files({.series = bad});
    ASSERT_FALSE(files);
    EXPECT_EQ(files.error().code, ErrorCode::kUnavailable);
  }
  const auto first = AppendedFile::open(path("series"));
  ASSERT_TRUE(first);
  EXPECT_THAT(AppendedFile::open(path("series")).error().message, HasSubstr("another process writes to it"));
}

TEST_F(RecorderTest, ALineThatACrashLeftUnfinishedIsRemoved) {
  std::ofstream(path("series")) << "{\"a\":1}\n{\"a\":2}\n{\"a\"";
  auto file = AppendedFile::open(path("series"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->last_lines(10), "{\"a\":2}\n");
  EXPECT_EQ(file->last_lines(1'000), "{\"a\":1}\n{\"a\":2}\n");
  ASSERT_TRUE(file->append("{\"a\":3}\n"));
  EXPECT_EQ(content(path("series")), "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
  std::ofstream(path("edited")) << "{\"a\":1}";
  ASSERT_TRUE(AppendedFile::open(path("edited")));
  EXPECT_EQ(content(path("edited")), "{\"a\":1}\n");
}

}  // namespace
}  // namespace berth::edges
