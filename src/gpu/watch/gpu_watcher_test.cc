#include "gpu/watch/gpu_watcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <vector>

namespace berth::edges {
namespace {

using std::chrono::milliseconds;

/// Two GPUs, "a" and "b"; reading "b" can hang, and so can waiting for something to happen to "a".
class TwoGpus final : public GpuLibrary {
 public:
  TwoGpus() = default;
  TwoGpus(const TwoGpus&) = delete;
  TwoGpus& operator=(const TwoGpus&) = delete;
  ~TwoGpus() override {
    if (on_end) on_end();
  }

  [[nodiscard]] const GpuLibraryFacts& facts() const override { return facts_; }
  [[nodiscard]] GpuAnswer<std::vector<Listed>> list() override { return std::vector<Listed>(); }
  [[nodiscard]] GpuAnswer<GpuReading> read(const std::string& uuid) override {
    if (uuid == "b") gate_.wait();
    const std::scoped_lock hold(mutex_);
    return reading_;
  }
  [[nodiscard]] GpuAnswer<GpuMeasurement> measure(const std::string& uuid) override {
    if (uuid == "b") return tl::unexpected(GpuCallFailure{.call = "nvmlDeviceGetPowerUsage", .code_name = "lost"});
    return GpuMeasurement{.temperature_celsius = ++degrees_};
  }
  [[nodiscard]] GpuAnswer<GpuFigures> figures(const std::string&,
                                              const std::vector<GpuInstanceSeen>& instances) override {
    ++figure_questions;
    return GpuFigures{.index = static_cast<std::uint32_t>(instances.size())};
  }
  [[nodiscard]] GpuAnswer<std::optional<GpuNotice>> wait(const std::string&, std::int64_t millis_max) override {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [this] { return !does_wait_hang_; });
    changed_.wait_for(hold, milliseconds(millis_max), [this] { return notice_.has_value(); });
    return std::exchange(notice_, std::nullopt);
  }

  void happen(GpuNotice notice, bool is_mig_on) {
    const std::scoped_lock hold(mutex_);
    notice_ = notice;
    reading_.is_mig_on = is_mig_on;
    changed_.notify_all();
  }
  void let_waits_hang(bool do_hang) {
    const std::scoped_lock hold(mutex_);
    does_wait_hang_ = do_hang;
    changed_.notify_all();
  }
  void open_gate() { gate_opener_->set_value(); }
  [[nodiscard]] std::shared_ptr<std::promise<void>> gate_opener() const { return gate_opener_; }

  std::function<void()> on_end;
  std::atomic<int> figure_questions = 0;

 private:
  GpuLibraryFacts facts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  GpuReading reading_;
  std::optional<GpuNotice> notice_;
  bool does_wait_hang_ = false;
  std::atomic<int> degrees_ = 20;
  std::shared_ptr<std::promise<void>> gate_opener_ = std::make_shared<std::promise<void>>();
  std::shared_future<void> gate_ = gate_opener_->get_future().share();
};

/// Waits for reports.
std::vector<GpuReport> reports_of(GpuWatcher& watcher) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < deadline) {
    auto reports = watcher.take_reports();
    if (!reports.empty()) return reports;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return {};
}

TEST(GpuWatcher, TellsWhatIsNewAndNothingElse) {
  TwoGpus library;
  std::atomic<int> calls = 0;
  GpuWatcher watcher(library, {{3, "a"}}, {.reads_every = milliseconds(1)});
  watcher.call([&] { ++calls; });
  watcher.start();
  const auto first = reports_of(watcher);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].gpu, 3U);
  EXPECT_FALSE(first[0].reading->is_mig_on);
  for (int round = 0; round < 20; ++round) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_TRUE(watcher.take_reports().empty());
  EXPECT_EQ(calls, 1);
  library.happen({.kind = GpuNotice::Kind::kMigChange}, true);
  EXPECT_TRUE(reports_of(watcher).at(0).reading->is_mig_on);
  EXPECT_TRUE(watcher.stop(std::chrono::seconds(20)));
}

TEST(GpuWatcher, MeasuresAfterEachReadingAndReportsNothingForThat) {
  TwoGpus library;
  std::atomic<int> calls = 0;
  library.open_gate();
  GpuWatcher watcher(library, {{0, "a"}, {1, "b"}}, {.reads_every = milliseconds(1)});
  EXPECT_FALSE(watcher.measured(0).has_value());
  watcher.call([&] { ++calls; });
  watcher.start();
  const auto degrees = [&] {
    const auto measured = watcher.measured(0);
    return measured ? measured->figures.temperature_celsius.value_or(0) : 0;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (degrees() < 25 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_GE(degrees(), 25) << "the newest";
  EXPECT_LE(calls, 2) << "for the first reading of each";
  EXPECT_FALSE(watcher.measured(1).has_value()) << "it cannot be measured";
  EXPECT_TRUE(watcher.stop(std::chrono::seconds(20)));
}

TEST(GpuWatcher, CollectsFiguresOnlyWhereThatIsWanted) {
  for (const bool is_wanted : {false, true}) {
    TwoGpus library;
    GpuWatcher watcher(library, {{0, "a"}}, {.reads_every = milliseconds(1), .collects_figures = is_wanted});
    watcher.start();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!watcher.measured(0) && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    ASSERT_TRUE(watcher.measured(0).has_value());
    EXPECT_EQ(watcher.measured(0)->more.index.has_value(), is_wanted);
    EXPECT_EQ(library.figure_questions > 0, is_wanted);
    EXPECT_TRUE(watcher.stop(std::chrono::seconds(20)));
  }
}

TEST(GpuWatcher, AnEventIsReadAtOnce) {
  TwoGpus library;
  GpuWatcher watcher(library, {{0, "a"}}, {.reads_every = std::chrono::hours(1)});
  watcher.start();
  ASSERT_EQ(reports_of(watcher).size(), 1U);
  library.happen({.kind = GpuNotice::Kind::kMigChange}, true);
  const auto reports = reports_of(watcher);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_TRUE(reports[0].reading->is_mig_on);
  EXPECT_TRUE(watcher.stop(std::chrono::seconds(20)));
}

TEST(GpuWatcher, TellsXidsOnceAlsoWhereNothingElseIsNew) {
  TwoGpus library;
  GpuWatcher watcher(library, {{0, "a"}}, {.reads_every = std::chrono::hours(1)});
  watcher.start();
  ASSERT_EQ(reports_of(watcher).size(), 1U);
  library.happen({.kind = GpuNotice::Kind::kXid, .xid = 79}, false);
  const auto reports = reports_of(watcher);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].xids, (std::map<XidSource, std::uint64_t>{{{.xid = 79}, 1}}));
  EXPECT_TRUE(watcher.stop(std::chrono::seconds(20)));
}

TEST(GpuWatcher, AStormOfXidsIsCounted) {
  TwoGpus library;
  std::atomic<int> calls = 0;
  GpuWatcher watcher(library, {{0, "a"}}, {.reads_every = std::chrono::hours(1)});
  watcher.call([&] { ++calls; });
  watcher.start();
  ASSERT_EQ(reports_of(watcher).size(), 1U);
  std::map<std::uint64_t, std::uint64_t> counts;
  for (int i = 0; i < 20; ++i) {
    library.happen({.kind = GpuNotice::Kind::kXid, .xid = i % 2 == 0 ? 63U : 64U}, false);
    for (const auto& report : reports_of(watcher)) {
      for (const auto& [source, count] : report.xids) counts[source.xid] += count;
    }
  }
  EXPECT_EQ(counts, (std::map<std::uint64_t, std::uint64_t>{{63, 10}, {64, 10}}));
  EXPECT_EQ(watcher.xids(0).counts, counts) << "reports take nothing from it";
  EXPECT_EQ(watcher.xids(0).last, 64U);
  EXPECT_EQ(calls, 2) << "the first reading and the first XID; the others wait for the next reading";
  EXPECT_TRUE(watcher.stop(std::chrono::seconds(20)));
}

TEST(GpuWatcher, AGpuThatHangsHoldsUpNoOther) {
  TwoGpus library;
  GpuWatcher watcher(library, {{0, "a"}, {1, "b"}}, {.reads_every = milliseconds(1)});
  watcher.start();
  watcher.wait_for_readings(milliseconds(20));
  EXPECT_EQ(reports_of(watcher).at(0).gpu, 0U);
  while (watcher.waiting_for(1) < milliseconds(5)) std::this_thread::sleep_for(milliseconds(1));
  library.happen({.kind = GpuNotice::Kind::kMigChange}, true);
  EXPECT_EQ(reports_of(watcher).at(0).gpu, 0U);
  library.open_gate();
  watcher.wait_for_readings(std::chrono::seconds(20));
  EXPECT_EQ(reports_of(watcher).at(0).gpu, 1U);
  EXPECT_TRUE(watcher.stop(std::chrono::seconds(20)));
}

TEST(GpuWatcher, ADriverThatHangsBetweenTwoReadingsIsSeen) {
  TwoGpus library;
  GpuWatcher watcher(library, {{0, "a"}}, {.reads_every = std::chrono::hours(1)});
  watcher.start();
  EXPECT_EQ(reports_of(watcher).at(0).gpu, 0U);
  library.let_waits_hang(true);
  constexpr milliseconds kLongerThanAPiece{400};
  while (watcher.waiting_for(0) < kLongerThanAPiece) std::this_thread::sleep_for(milliseconds(1));
  library.let_waits_hang(false);
  while (watcher.waiting_for(0) >= kLongerThanAPiece) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_TRUE(watcher.stop(std::chrono::seconds(20)));
}

TEST(GpuWatcher, NobodyIsCalledAfterItsEndAndTheLibraryGoesWithTheLastThread) {
  const auto ends = std::make_shared<std::atomic<int>>(0);
  auto owned = std::make_unique<TwoGpus>();
  TwoGpus& library = *owned;
  library.on_end = [ends] { ++*ends; };
  std::atomic<int> calls = 0;
  const auto open_gate = library.gate_opener();
  {
    GpuWatcher watcher(library, {{0, "a"}, {1, "b"}}, {.reads_every = milliseconds(1)});
    watcher.call([&] { ++calls; });
    watcher.start();
    ASSERT_EQ(reports_of(watcher).at(0).gpu, 0U);
    EXPECT_FALSE(watcher.stop(milliseconds(50))) << "b hangs";
    watcher.leave_behind(std::move(owned));
  }
  const int before = calls;
  EXPECT_EQ(*ends, 0);
  open_gate->set_value();
  while (*ends == 0) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(calls, before);
}

}  // namespace
}  // namespace berth::edges
