/// Every call that the store of a series makes to its files fails once, and power is cut after each change: a reader
/// then gets the appended seconds, from the first on without a gap.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "edges/sqlite_store/series_file.h"
#include "edges/sqlite_store/testing/disk_trouble.h"
#include "edges/sqlite_store/testing/simulated_disk.h"

namespace berth::edges {
namespace {

using testing::DiskTrouble;
using testing::SimulatedDisk;

constexpr std::int64_t kAppends = 8;
/// Slow builds try fewer points.
constexpr std::uint64_t kPointStride = berth::testing::by_build(1, 9);

SeriesSpan known_second(std::int64_t second) {
  return {.second = second, .services = {{.service = 3, .requests = second * second, .latencies = {{7, second + 1}}}}};
}

class SeriesOnDisk {
 public:
  explicit SeriesOnDisk(const SimulatedDisk& disk) : vfs_(disk.vfs()) {}

  /// Appends all seconds, retrying each until it is accepted, at most `tries_max` times in all.
  void run(int tries_max) {
    for (; next_ < kAppends && tries_max > 0; --tries_max) {
      if (!store_.writer && !open()) continue;
      if (store_.writer->append({.seconds = {known_second(next_)}})) ++next_;
    }
  }
  bool open() {
    auto opened = open_series_file("/series.db", {.world_epoch_us = 1, .vfs = vfs_});
    if (opened) store_ = std::move(*opened);
    return opened.has_value();
  }
  void close() { store_ = {}; }

  [[nodiscard]] std::int64_t appended() const { return next_; }
  /// The number of seconds read, or the fault found.
  StoreResult<std::int64_t> count() {
    const auto spans = store_.reader->read({.from = 0, .to = 1000});
    if (!spans) return tl::unexpected(spans.error());
    for (std::size_t i = 0; i < spans->size(); ++i) {
      if ((*spans)[i] == known_second(static_cast<std::int64_t>(i))) continue;
      return tl::unexpected(StoreError{StoreFault::kDamaged, fmt::format("second {} is not what it was", i)});
    }
    return std::ssize(*spans);
  }

 private:
  std::string vfs_;
  SeriesStore store_;
  std::int64_t next_ = 0;
};

TEST(SeriesFaults, AfterAnyFailureItGoesOn) {
  for (std::size_t trouble = 0; trouble < testing::kDiskTroubleCount; ++trouble) {
    bool has_fired = true;
    for (std::uint64_t nth = 1; has_fired && nth < 1000; nth += kPointStride) {
      SCOPED_TRACE(fmt::format("trouble {}, call {}", trouble, nth));
      SimulatedDisk disk(nth);
      SeriesOnDisk series(disk);
      SimulatedDisk::Fault fault = testing::fault_of(static_cast<DiskTrouble>(trouble));
      fault.nth = nth;
      disk.arm(fault);
      series.run(4);
      has_fired = disk.has_fired();
      ASSERT_TRUE(has_fired || nth > 1) << "there is such a call";
      disk.heal();
      series.run(2 * kAppends);
      ASSERT_EQ(series.appended(), kAppends);
      const auto count = series.count();
      ASSERT_TRUE(count) << count.error().message;
      ASSERT_EQ(*count, kAppends);
      series.close();
      ASSERT_TRUE(series.open());
      ASSERT_EQ(series.count().value_or(-1), kAppends);
    }
  }
}

TEST(SeriesFaults, APowerCutLeavesABeginningOfWhatWasAppended) {
  for (std::size_t way = 0; way < SimulatedDisk::kPowerCutCount; ++way) {
    bool is_cut = true;
    for (std::uint64_t changes = 1; is_cut && changes < 1000; changes += kPointStride) {
      SCOPED_TRACE(fmt::format("way {}, change {}", way, changes));
      SimulatedDisk disk(changes);
      SeriesOnDisk series(disk);
      disk.cut_power_after(changes);
      series.run(2 * kAppends);
      is_cut = disk.is_cut();
      ASSERT_TRUE(is_cut || changes > 1);
      series.close();
      disk.restart(static_cast<SimulatedDisk::PowerCut>(way));
      ASSERT_TRUE(series.open());
      const auto count = series.count();
      ASSERT_TRUE(count) << count.error().message;
      ASSERT_LE(*count, kAppends);
    }
  }
}

}  // namespace
}  // namespace berth::edges
