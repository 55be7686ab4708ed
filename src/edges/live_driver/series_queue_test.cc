#include "edges/live_driver/series_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "domain/ports/testing/memory_series.h"

namespace berth::edges {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kDeadline = std::chrono::seconds(60);

SeriesSpan series_second(std::int64_t second) {
  SeriesSpan span{.second = second, .fleet = FleetFigures{.covered_us = 1'000'000}};
  for (const std::uint64_t service : {4U, 9U})
    span.services.push_back({.service = service, .requests = 2, .queued_max = 1});
  return span;
}

class SeriesQueueTest : public ::testing::Test {
 protected:
  std::unique_ptr<SeriesQueue> make(std::size_t waiting_bytes_max = 1U << 20U) {
    SeriesQueueOptions options;
    options.open = [this]() -> StoreResult<SeriesStore> {
      const std::scoped_lock hold(memory_->lock);
      if (refused_) return tl::unexpected(*refused_);
      return berth::testing::open_memory_series(memory_);
    };
    options.set_aside = [this]() -> StoreResult<void> {
      const std::scoped_lock hold(memory_->lock);
      memory_->trouble.reset();
      memory_->unreadable.reset();
      memory_->seconds.clear();
      refused_.reset();
      return {};
    };
    options.report = [this](const std::string& event, const std::string&) {
      const std::scoped_lock hold(memory_->lock);
      reported_.push_back(event);
    };
    options.waiting_bytes_max = waiting_bytes_max;
    options.write_every = milliseconds(1);
    options.retry_every = milliseconds(1);
    return std::make_unique<SeriesQueue>(std::move(options));
  }

  static void add(SeriesQueue& queue, std::int64_t from, std::int64_t to) {
    for (std::int64_t second = from; second < to; ++second) queue.add(series_second(second));
  }
  template <class Condition>
  void wait_until(const Condition& condition) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (true) {
      {
        const std::scoped_lock hold(memory_->lock);
        if (condition()) return;
      }
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  void set_trouble(std::optional<StoreError> trouble) {
    const std::scoped_lock hold(memory_->lock);
    memory_->trouble = std::move(trouble);
  }

  std::shared_ptr<berth::testing::MemorySeries> memory_ = std::make_shared<berth::testing::MemorySeries>();
  std::optional<StoreError> refused_;  ///< under the memory's lock, as the next
  std::vector<std::string> reported_;
};

const StoreError full_disk{StoreFault::kFull, "the disk is full"};
const StoreError damage{StoreFault::kDamaged, "a row is not what was written"};

TEST_F(SeriesQueueTest, WhatWasAddedIsWrittenWithSumsBeforeItEnds) {
  auto queue = make();
  EXPECT_THAT(queue->begin(0), IsEmpty());
  queue->start();
  add(*queue, 0, 130);
  queue->stop();
  EXPECT_EQ(memory_->seconds.size(), 130U);
  ASSERT_EQ(memory_->minutes.size(), 2U);
  const std::vector<ServiceFigures>& sums = memory_->minutes[60].services;
  ASSERT_EQ(sums.size(), 3U);
  EXPECT_EQ(sums[0], (ServiceFigures{.service = kAllServices, .seconds = 60, .requests = 240, .queued_max = 2}));
  EXPECT_EQ(sums[2], (ServiceFigures{.service = 9, .seconds = 60, .requests = 120, .queued_max = 1}));
  EXPECT_EQ(memory_->minutes[60].fleet->covered_us, 60'000'000);
  EXPECT_THAT(reported_, IsEmpty());
}

TEST_F(SeriesQueueTest, TheNextProcessGetsTheLastSecondsAndGoesOnWithItsMinute) {
  auto first = make();
  static_cast<void>(first->begin(0));
  first->start();
  add(*first, 0, 200);
  first->stop();
  auto second = make();
  const std::vector<SeriesSpan> last = second->begin(195);  // the world repeats the last five
  ASSERT_EQ(last.size(), 120U);
  EXPECT_EQ(last.front().second, 75);
  EXPECT_EQ(last.back().second, 194);
  second->start();
  add(*second, 195, 241);
  second->stop();
  EXPECT_EQ(memory_->seconds.size(), 241U);
  EXPECT_EQ(memory_->minutes.at(180).services.at(1).seconds, 60);
}

TEST_F(SeriesQueueTest, OnlyWhatIsNotTooOldIsKept) {
  auto queue = make();
  queue->keep(100);
  static_cast<void>(queue->begin(0));
  queue->start();
  add(*queue, 0, 301);
  queue->stop();
  EXPECT_EQ(memory_->seconds.begin()->first, 200);
  EXPECT_EQ(memory_->minutes.begin()->first, 240);
}

TEST_F(SeriesQueueTest, AFullDiskPausesItAndItGoesOnByItself) {
  auto queue = make(20'000);
  static_cast<void>(queue->begin(0));
  set_trouble(full_disk);
  queue->start();
  add(*queue, 0, 1);
  wait_until([&] { return !reported_.empty(); });
  add(*queue, 1, 500);  // more than may wait
  set_trouble(std::nullopt);
  wait_until([&] { return reported_.size() == 2; });
  queue->stop();
  EXPECT_THAT(reported_, ElementsAre("series_paused", "series_resumed"));
  EXPECT_TRUE(memory_->seconds.contains(0));
  EXPECT_FALSE(memory_->seconds.contains(1)) << "the oldest go first";
  EXPECT_TRUE(memory_->seconds.contains(499));
}

TEST_F(SeriesQueueTest, AStoreThatCannotBeOpenedAtFirstIsOpenedLater) {
  refused_ = full_disk;
  auto queue = make();
  EXPECT_THAT(queue->begin(0), IsEmpty());
  const auto nothing = [](SeriesReader&) -> StoreResult<void> { return {}; };
  EXPECT_EQ(queue->read(nothing).error().message, full_disk.message);
  {
    const std::scoped_lock hold(memory_->lock);
    refused_.reset();
  }
  queue->start();
  add(*queue, 0, 3);
  wait_until([&] { return memory_->seconds.size() == 3; });
  EXPECT_TRUE(queue->read(nothing));
  queue->stop();
  EXPECT_FALSE(queue->read(nothing));
}

TEST_F(SeriesQueueTest, AnotherProgramsFileIsLeftAlone) {
  refused_ = StoreError{StoreFault::kForeign, "not ours"};
  auto queue = make();
  EXPECT_THAT(queue->begin(0), IsEmpty());
  queue->start();
  add(*queue, 0, 3);
  queue->stop();
  EXPECT_THAT(memory_->seconds, IsEmpty());
  EXPECT_THAT(reported_, ElementsAre("series_off"));
}

TEST_F(SeriesQueueTest, WhatIsDamagedIsBegunAnewWhoeverFindsIt) {
  refused_ = damage;
  auto queue = make();
  static_cast<void>(queue->begin(0));
  EXPECT_THAT(reported_, ElementsAre("series_begun_anew"));
  queue->start();
  add(*queue, 0, 1);
  wait_until([&] { return memory_->seconds.contains(0); });
  set_trouble(damage);
  add(*queue, 1, 2);
  wait_until([&] { return reported_.size() == 2; });
  {
    const std::scoped_lock hold(memory_->lock);
    memory_->unreadable = damage;
  }
  const auto look = [](SeriesReader& reader) -> StoreResult<void> {
    const auto range = reader.range(SeriesRing::kSeconds);
    if (!range) return tl::unexpected(range.error());
    return {};
  };
  EXPECT_FALSE(queue->read(look));
  add(*queue, 2, 3);
  wait_until([&] { return memory_->seconds.contains(2); });
  EXPECT_TRUE(queue->read(look));
  queue->stop();
  EXPECT_THAT(reported_, ElementsAre("series_begun_anew", "series_begun_anew", "series_begun_anew"));
}

}  // namespace
}  // namespace berth::edges
