#include "edges/sqlite_store/profile_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "edges/sqlite_store/test_scratch.h"

namespace berth::edges {
namespace {

using Mode = ProfileFileMode;

void execute_sql(const std::string& path, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

std::string bytes_of_profiles(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ProfileRun sample_run(const std::string& name, std::size_t points = 3) {
  ProfileRun run{.started_us = 1'764'000'000'000'000, .berth_version = "0.1.0", .label = "A30-24GB:1g.6gb"};
  run.model = {.name = name,
               .sha256 = std::string(64, 'a'),
               .file_bytes = 1234,
               .flops = 5'000'000'000,
               .activation_bytes = std::nullopt,
               .parameters = 7,
               .weight_bytes = 28};
  run.machine = {.device = "cpu",
                 .processor = "A CPU",
                 .flags = "avx2 fma",
                 .memory_bytes = 1LL << 34,
                 .engine = "ONNX Runtime 1.2",
                 .threads = 1};
  run.memory_at_load_bytes = 4096;
  for (std::size_t i = 0; i < points; ++i) {
    run.points.push_back({.batch = static_cast<int>(i) + 1,
                          .rows_per_second = 1e6 / 3,
                          .mean_us = 0.1 + static_cast<double>(i),
                          .mean_us_low = 0.09,
                          .mean_us_high = 0.3,
                          .p50_us = 0.1,
                          .p99_us = 0.2,
                          .batches = 1000,
                          .is_short = i == 1,
                          .memory_bytes = i == 0 ? std::nullopt : std::optional<std::int64_t>(99)});
  }
  run.points.back().fits = false;
  return run;
}

ObservedTimes times(std::int64_t count, const std::string& sha256 = std::string(64, 'a'), int batch = 4) {
  return {.model = "m",
          .version = "1",
          .sha256 = sha256,
          .device = "cpu",
          .batch = batch,
          .count = count,
          .sum_us = count * 10,
          .sum_squares = static_cast<double>(count) * 100};
}

TimesReport report_of(std::int64_t started_us, std::vector<ObservedTimes> items) {
  return {.started_us = started_us, .url = "http://h", .items = std::move(items)};
}

/// A database that is open for writing.
struct Opened {
  testing::Scratch scratch;
  std::string path = (scratch.path / "profiles.db").string();
  std::unique_ptr<ProfileStore> store = open_profile_store(path, Mode::kWrite).value();

  [[nodiscard]] std::unique_ptr<ProfileStore> reader() const { return open_profile_store(path, Mode::kRead).value(); }
};

TEST(ProfileFile, KeepsRunsAsTheyAre) {
  const Opened opened;
  ProfileRun first = sample_run("m");
  ProfileRun second = sample_run("m");
  second.label.clear();
  second.model.flops.reset();
  second.memory_at_load_bytes.reset();
  second.fixed_batch = 8;
  second.points.resize(1);
  second.points[0] = {.batch = 8, .rows_per_second = 1, .mean_us = 2, .rate_text = "1.0", .latency_text = "0.0020"};
  EXPECT_EQ(opened.store->add(first), 1);
  EXPECT_EQ(opened.store->add_all(std::vector{second, first}), 2);
  first.id = 1;
  second.id = 2;
  ProfileRun third = first;
  third.id = 3;
  EXPECT_EQ(opened.store->runs(), (std::vector{first, second, third}));
  EXPECT_EQ(opened.reader()->runs(), opened.store->runs());
  EXPECT_EQ(opened.reader()->observed()->size(), 0U);
}

TEST(ProfileFile, HasOneRowForEqualModelsAndMachines) {
  const Opened opened;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(opened.store->add(sample_run("m")).has_value());
  ProfileRun other = sample_run("m");
  other.machine.threads = 2;
  ASSERT_TRUE(opened.store->add(other).has_value());
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(opened.path.c_str(), &database), SQLITE_OK);
  std::string counts;
  const auto keep = [](void* to, int, char** values, char**) {
    *static_cast<std::string*>(to) += std::string(values[0]) + " " + values[1];
    return 0;
  };
  sqlite3_exec(database, "SELECT (SELECT count(*) FROM models), (SELECT count(*) FROM machines)", keep, &counts,
               nullptr);
  sqlite3_close(database);
  EXPECT_EQ(counts, "1 2");
}

TEST(ProfileFile, RefusesFiguresThatAreNone) {
  const Opened opened;
  ProfileRun run = sample_run("m");
  run.points[1].p99_us = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(opened.store->add(run).error().code, ErrorCode::kInvalidInput);
  run = sample_run("m");
  run.points[1].batch = 1;
  EXPECT_EQ(opened.store->add(run).error().code, ErrorCode::kInvalidInput);
  EXPECT_FALSE(std::filesystem::exists(opened.path));
  EXPECT_FALSE(opened.store->add_all(std::vector{sample_run("m"), run}).has_value());
  EXPECT_FALSE(std::filesystem::exists(opened.path));
}

TEST(ProfileFile, CreatesNothingBeforeTheFirstRow) {
  const testing::Scratch scratch;
  const std::string path = (scratch.path / "profiles.db").string();
  EXPECT_EQ(open_profile_store(path, Mode::kRead).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(open_profile_store(path, Mode::kWrite).value()->runs()->empty());
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path));
  EXPECT_EQ(open_profile_store(path + "/x/y.db", Mode::kWrite).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(open_profile_store(scratch.path.string(), Mode::kWrite).error().code, ErrorCode::kInvalidInput);
  std::ofstream(path).close();  // an empty file is a new one
  EXPECT_TRUE(open_profile_store(path, Mode::kRead).value()->runs()->empty());
  EXPECT_EQ(open_profile_store(path, Mode::kWrite).value()->add(sample_run("m")), 1);
}

TEST(ProfileFile, RefusesOtherFilesAndChangesNothing) {
  const Opened opened;
  ASSERT_TRUE(opened.store->add(sample_run("m")).has_value());
  const std::string later = (opened.scratch.path / "later.db").string();
  std::filesystem::copy_file(opened.path, later);
  execute_sql(later, "PRAGMA user_version = 99");
  const std::string foreign = (opened.scratch.path / "foreign.db").string();
  execute_sql(foreign, "CREATE TABLE t(a)");
  const std::string text = (opened.scratch.path / "text.db").string();
  std::ofstream(text) << std::string(5000, 'x');
  for (const auto& [path, words] :
       {std::pair(later, "later version"), std::pair(foreign, "not written by this program"),
        std::pair(text, "not a database")}) {
    const std::string before = bytes_of_profiles(path);
    for (const Mode mode : {Mode::kRead, Mode::kWrite}) {
      const auto error = open_profile_store(path, mode).error();
      EXPECT_EQ(error.code, ErrorCode::kInvalidInput);
      EXPECT_NE(error.message.find(words), std::string::npos) << error.message;
      EXPECT_TRUE(error.message.starts_with(path)) << error.message;
    }
    EXPECT_EQ(bytes_of_profiles(path), before);
  }
}

/// What both calls of a reader say, or the error.
std::pair<std::string, std::vector<ProfileRun>> read_runs(const std::string& path) {
  const auto store = open_profile_store(path, Mode::kRead);
  if (!store) return {store.error().message, {}};
  const auto runs = (*store)->runs();
  if (!runs) return {runs.error().message, {}};
  const auto observed = (*store)->observed();
  if (!observed) return {observed.error().message, {}};
  return {"", *runs};
}

TEST(ProfileFile, FindsDamagedBytes) {
  const Opened opened;
  ASSERT_TRUE(opened.store->add_all(std::vector{sample_run("m"), sample_run("n", 9)}).has_value());
  ASSERT_TRUE(opened.store->observe(report_of(1, {times(5)}), 7).has_value());
  const auto runs = opened.store->runs().value();
  const std::string bytes = bytes_of_profiles(opened.path);
  const std::string damaged = (opened.scratch.path / "damaged.db").string();
  std::size_t found = 0;
  constexpr std::size_t kStep = 97;  // bytes between those that are changed
  for (std::size_t at = 0; at < bytes.size(); at += kStep) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x15);
    std::ofstream(damaged, std::ios::binary) << changed;
    const auto [error, read] = read_runs(damaged);
    if (error.empty()) {
      EXPECT_EQ(read, runs) << "byte " << at;  // of free space
    } else {
      ++found;
      EXPECT_TRUE(error.starts_with(damaged)) << error;
    }
  }
  EXPECT_GT(found, 5U);
  std::ofstream(damaged, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  EXPECT_NE(read_runs(damaged).first, "");
}

TEST(ProfileFile, FindsChangedFigures) {
  for (const char* sql :
       {"UPDATE points SET mean_us = mean_us * 2 WHERE batch = 2", "DELETE FROM points WHERE batch = 2",
        "UPDATE runs SET label = 'x'", "DELETE FROM runs WHERE id = 1", "UPDATE machines SET threads = 3",
        "UPDATE models SET flops = 1", "UPDATE report_times SET count = count + 1", "DELETE FROM report_times",
        "INSERT INTO points SELECT 9, processes, batch, fits, rows_per_second, mean_us, mean_us_low, mean_us_high, "
        "p50_us, p99_us, batches, is_short, memory_bytes, rate_text, latency_text FROM points LIMIT 1"}) {
    const Opened opened;
    ASSERT_TRUE(opened.store->add_all(std::vector{sample_run("m"), sample_run("n")}).has_value());
    ASSERT_TRUE(opened.store->observe(report_of(1, {times(5)}), 7).has_value());
    EXPECT_EQ(read_runs(opened.path).first, "");
    execute_sql(opened.path, sql);
    const std::string error = read_runs(opened.path).first;
    EXPECT_NE(error.find("is not what was written"), std::string::npos) << sql << ": " << error;
  }
}

TEST(ProfileFile, CountsEachObservedBatchOnce) {
  const Opened opened;
  EXPECT_EQ(opened.store->observe(report_of(1, {times(5), times(3, "", 8)}), 100), 8);
  EXPECT_EQ(opened.store->observe(report_of(1, {times(5), times(3, "", 8)}), 101), 0);
  EXPECT_EQ(opened.store->observe(report_of(1, {times(9), times(3, "", 8)}), 102), 4);
  EXPECT_EQ(opened.store->observe(report_of(1, {times(7)}), 103), 0);  // read earlier, written later
  EXPECT_EQ(opened.store->observe(report_of(2, {times(2)}), 104), 2);  // the server was started again
  auto elsewhere = report_of(2, {times(2)});
  elsewhere.url = "http://other";
  EXPECT_EQ(opened.store->observe(elsewhere, 105), 2);
  const auto sums = opened.reader()->observed().value();
  ASSERT_EQ(sums.size(), 3U);
  EXPECT_EQ(sums[0], (ObservedSum{.url = "http://h", .times = times(3, "", 8), .last_us = 100}));
  EXPECT_EQ(sums[1], (ObservedSum{.url = "http://h", .times = times(11), .last_us = 104}));
  EXPECT_EQ(sums[2], (ObservedSum{.url = "http://other", .times = times(2), .last_us = 105}));
}

TEST(ProfileFile, CountsBatchesUnderTheirContentOnceItIsKnown) {
  const Opened opened;
  EXPECT_EQ(opened.store->observe(report_of(1, {times(5, "")}), 100), 5);
  EXPECT_EQ(opened.store->observe(report_of(1, {times(9)}), 101), 4);
  EXPECT_EQ(opened.store->observe(report_of(1, {times(9)}), 102), 0);
  // Another content of that version, whose sum is not known yet.
  EXPECT_EQ(opened.store->observe(report_of(1, {times(9), times(2, "")}), 103), 2);
  const std::string other(64, 'b');
  EXPECT_EQ(opened.store->observe(report_of(1, {times(9), times(6, other)}), 104), 4);
  const auto sums = opened.store->observed().value();
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].times, times(9));
  EXPECT_EQ(sums[1].times, times(6, other));
}

TEST(ProfileFile, KeepsTheLastMemory) {
  const Opened opened;
  TimesReport report = report_of(1, {});
  report.memory = {{.model = "m", .version = "1", .bytes = 10}, {.model = "m", .version = "2", .bytes = 7}};
  EXPECT_EQ(opened.store->observe(report, 100), 0);
  report.memory[1].bytes = 8;
  EXPECT_EQ(opened.store->observe(report, 101), 0);
  const auto memory = opened.reader()->observed_memory().value();
  ASSERT_EQ(memory.size(), 2U);
  EXPECT_EQ(memory[0], (ObservedMemorySum{.url = "http://h", .memory = report.memory[0], .last_us = 100}));
  EXPECT_EQ(memory[1], (ObservedMemorySum{.url = "http://h", .memory = report.memory[1], .last_us = 101}));
}

/// A process that adds runs until it has added `count` of them, or is killed.
pid_t start_writer(const std::string& path, const std::string& name, int count) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  auto store = open_profile_store(path, Mode::kWrite);
  for (int i = 0; store && i < count; ++i) {
    if (!(*store)->add(sample_run(name, 40))) ::_exit(1);
  }
  ::_exit(store ? 0 : 1);
}

int status_of(pid_t process) {
  int status = 0;
  return ::waitpid(process, &status, 0) == process ? status : -1;
}

TEST(ProfileFile, HasAllRunsOfTwoWriters) {
  const testing::Scratch scratch;
  const std::string path = (scratch.path / "profiles.db").string();
  constexpr int kRuns = 15;
  const std::array writers = {start_writer(path, "a", kRuns), start_writer(path, "b", kRuns)};
  for (const pid_t writer : writers) EXPECT_EQ(status_of(writer), 0);
  const auto runs = open_profile_store(path, Mode::kRead).value()->runs().value();
  ASSERT_EQ(runs.size(), 2U * kRuns);
  std::size_t of_a = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].id, static_cast<std::int64_t>(i) + 1);
    of_a += runs[i].model.name == "a" ? 1 : 0;
  }
  EXPECT_EQ(of_a, static_cast<std::size_t>(kRuns));
}

TEST(ProfileFile, HasNoHalfRunOfAKilledWriter) {
  const testing::Scratch scratch;
  const std::string path = (scratch.path / "profiles.db").string();
  constexpr int kKills = 12;
  std::size_t runs_before = 0;
  for (int i = 0; i < kKills; ++i) {
    const pid_t victim = start_writer(path, "victim", 1'000'000);
    const pid_t other = start_writer(path, "other", 3);
    ::usleep(static_cast<useconds_t>(3'000 + i * 2'500));
    ::kill(victim, SIGKILL);
    static_cast<void>(status_of(victim));
    EXPECT_EQ(status_of(other), 0);  // a killed writer locks nobody out
    const auto runs = open_profile_store(path, Mode::kRead).value()->runs();
    ASSERT_TRUE(runs.has_value()) << runs.error().message;
    for (const ProfileRun& run : *runs) EXPECT_EQ(run.points.size(), 40U);
    EXPECT_GE(runs->size(), runs_before + 3);
    runs_before = runs->size();
  }
}

TEST(ProfileFile, ReadsWhereNothingCanBeWritten) {
  const Opened opened;
  ASSERT_TRUE(opened.store->add(sample_run("m")).has_value());
  std::filesystem::permissions(opened.path, std::filesystem::perms::owner_read);
  EXPECT_EQ(opened.reader()->runs()->size(), 1U);
}

}  // namespace
}  // namespace berth::edges
