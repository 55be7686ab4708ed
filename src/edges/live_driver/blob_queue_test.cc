#include "edges/live_driver/blob_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "live/chain/field_hash.h"
#include "live/chain/testing/memory_store.h"
#include "live/chain/verify.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"

namespace berth::edges {
namespace {

class BlobQueueTest : public ::testing::Test {
 protected:
  BlobQueueTest() {
    const auto encode = [](const live::Entry& entry) {
      return JournalEntry{.at = entry.at, .wall_us = 1, .kind = "Entry", .body = "{}"};
    };
    recorder_ = std::make_unique<Recorder>(*store_.open_writer(1), Recorder::Head{}, encode,
                                           std::function<StoreResult<void>()>());
    Scenario scenario = sim::testing::scenario_of({}, {}, 1);
    scenario.layout.reset();
    session_ = std::move(*live::Session::make(std::move(scenario), {}));
    session_->begin();
    queue_ = std::make_unique<BlobQueue>(
        *session_, turn_, lock_, *recorder_,
        BlobQueue::Readers{
            .quick = *store_.open_reader(), .parts = *store_.open_reader(), .slow = *store_.open_reader()},
        [this] { return wall_us_; });
  }

  StoreResult<chain::JournalCounts> verify() { return chain::verify_journal(**store_.open_reader()); }

  testing::MemoryStore store_;
  std::int64_t wall_us_ = 5;
  std::unique_ptr<Recorder> recorder_;
  FairMutex turn_;
  FairMutex lock_;
  std::unique_ptr<live::Session> session_;
  std::unique_ptr<BlobQueue> queue_;
  const std::string bytes_ = std::string((2U << 20U) + 17, 'x') + "end";
  const Sha256 name_ = chain::sha256(bytes_);
};

TEST_F(BlobQueueTest, ABlobIsThereWhenItIsFinished) {
  EXPECT_FALSE(queue_->has(name_).value());
  EXPECT_EQ(queue_->read(name_).value(), std::nullopt);
  EXPECT_EQ(queue_->store(name_, bytes_), std::nullopt);
  EXPECT_FALSE(queue_->has(name_).value());
  EXPECT_EQ(queue_->read(name_).value(), std::nullopt) << "not whole yet";
  EXPECT_EQ(queue_->finish(name_, bytes_.size()), false);
  EXPECT_TRUE(queue_->has(name_).value());
  EXPECT_EQ(queue_->read(name_).value(), bytes_);
  EXPECT_EQ(verify().value().blobs, 1U);
  wall_us_ = 6;
  EXPECT_EQ(queue_->store(name_, bytes_), std::nullopt);
  EXPECT_EQ(queue_->finish(name_, bytes_.size()), true);
  EXPECT_EQ((*store_.open_reader())->find_blob(name_).value()->used_wall_us, 6);
}

TEST_F(BlobQueueTest, ABlobIsReadByItsParts) {
  EXPECT_EQ(queue_->store(name_, bytes_), std::nullopt);
  EXPECT_EQ(queue_->find_whole(name_).value(), std::nullopt) << "not whole yet";
  EXPECT_EQ(queue_->finish(name_, bytes_.size()), false);
  const auto row = queue_->find_whole(name_).value();
  ASSERT_TRUE(row);
  EXPECT_EQ(row->bytes, bytes_.size());
  EXPECT_EQ(row->part_count, 3U);
  std::string read;
  for (std::uint32_t index = 0; index < row->part_count; ++index)
    read += queue_->read_part(name_, index).value().value();
  EXPECT_EQ(read, bytes_);
  EXPECT_EQ(queue_->read_part(name_, 3).value(), std::nullopt);
}

TEST_F(BlobQueueTest, AnEmptyBlobIsOne) {
  const Sha256 name = chain::sha256("");
  EXPECT_EQ(queue_->store(name, ""), std::nullopt);
  EXPECT_EQ(queue_->finish(name, 0), false);
  EXPECT_EQ(queue_->read(name).value(), "");
  EXPECT_EQ(verify().value().blobs, 1U);
}

TEST_F(BlobQueueTest, WhatIsStoredOfABlobIsNotStoredAgain) {
  BlobPart first{.blob = name_, .index = 0, .bytes = bytes_.substr(0, 100)};
  ASSERT_EQ(recorder_->store_part(first, {.blob = name_, .bytes = 100, .part_count = 1}), std::nullopt);
  EXPECT_EQ(queue_->store(name_, bytes_), std::nullopt);
  EXPECT_EQ((*store_.open_reader())->read_blob_part(name_, 0).value(), first);
  EXPECT_EQ(queue_->finish(name_, bytes_.size()), false);
  EXPECT_EQ(queue_->read(name_).value(), bytes_);
}

TEST_F(BlobQueueTest, AFullDiskIsReportedAndTheRestIsStoredLater) {
  store_.refuse_next({StoreFault::kFull, "the disk is full"});
  EXPECT_EQ(queue_->store(name_, bytes_), "the disk is full");
  const auto early = queue_->finish(name_, bytes_.size());
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error(), "a part of it was removed in the meantime: put it again");
  EXPECT_EQ(queue_->store(name_, bytes_), std::nullopt);
  store_.refuse_next({StoreFault::kFull, "the disk is full"});
  EXPECT_EQ(queue_->finish(name_, bytes_.size()).error(), "the disk is full");
  EXPECT_EQ(queue_->finish(name_, bytes_.size()), false);
}

TEST_F(BlobQueueTest, AtItsEndNothingLongIsBegun) {
  const auto held = std::make_shared<int>();
  std::optional<std::string> stored;
  queue_->start();
  queue_->run_slowly([&] {
    std::this_thread::sleep_for(std::chrono::seconds(1));  // longer than its grace period
    stored = queue_->store(name_, bytes_);
  });
  bool is_begun = false;
  queue_->run_slowly([held, &is_begun] { is_begun = true; });
  queue_->stop();
  EXPECT_EQ(stored, "the server is stopping");
  EXPECT_FALSE(is_begun);
  EXPECT_EQ(held.use_count(), 1) << "who waits for it is told that nothing is known";
}

TEST_F(BlobQueueTest, WorkIsDoneInOrderAndToItsEnd) {
  std::vector<int> done;
  queue_->start();
  for (int i = 0; i < 20; ++i) queue_->run_slowly([&done, i] { done.push_back(i); });
  queue_->stop();
  ASSERT_EQ(done.size(), 20U);
  EXPECT_EQ(done.front(), 0);
  queue_->run_slowly([&done] { done.push_back(20); });
  EXPECT_EQ(done.size(), 20U);
}

}  // namespace
}  // namespace berth::edges
