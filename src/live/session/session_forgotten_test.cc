// Devices that know less than the journal: restored from an old copy, emptied, or with one of two writes lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "live/session/demo.h"
#include "live/session/entry.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "live/session/testing/recovery.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world_left.h"

namespace berth::live {
namespace {

constexpr std::int64_t kSavedSecond = 40;  ///< from then on, the first second at which it may be saved
constexpr std::int64_t kEndSecond = 60;
constexpr std::int64_t kRecoverySeconds = 60;

/// The demo under its planner. Its entries, its devices and a save made on the way are kept.
class SessionForgotten : public ::testing::Test {
 protected:
  void SetUp() override {
    session_ = make();
    session_->begin();
    for (std::int64_t second = 1; second <= kEndSecond; ++second) {
      run_to(second);
      if (second % 25 == 5) devices_.emplace(second, session_->world_left());
      if (!saved_.empty() || second < kSavedSecond || !session_->is_at_rest()) continue;
      session_->emit_all();
      saved_ = session_->save();
      entries_.clear();
    }
    ASSERT_FALSE(saved_.empty());
    orders_ = session_->order_count();
    slice_count_ = session_->snapshot().slices.size();
  }
  [[nodiscard]] std::unique_ptr<Session> make() {
    SessionOptions options;
    options.listener.entry = [this](Entry entry) { entries_.push_back(std::move(entry)); };
    auto made = Session::make(demo_scenario(), std::move(options));
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
  void run_to(std::int64_t second) {
    while (session_->now() < Instant::at_second(second)) ASSERT_TRUE(session_->advance(Instant::at_second(second)));
  }
  void restart(sim::WorldLeft left) {
    session_->emit_all();
    session_ = make();
    const auto begun_anew = session_->restore(saved_);
    ASSERT_TRUE(begun_anew.has_value() && begun_anew->empty());
    session_->repeat(std::vector(entries_), left.world.orders);
    session_->resume(std::move(left));
  }
  /// Some time later every known slice exists, and there are about as many as before.
  void expect_recovered() {
    run_to(session_->now().second() + kRecoverySeconds);
    std::set<Slice> standing;
    for (const world::DeviceMemory& device : session_->world_left().devices) {
      for (const world::SliceMemory& slice : device.slices) standing.insert(slice.slice);
    }
    EXPECT_EQ(testing::known_slices(*session_), standing);
    EXPECT_GT(standing.size(), slice_count_ / 2);
  }
  [[nodiscard]] sim::WorldLeft empty(std::uint64_t orders) const {
    sim::WorldLeft left;
    left.world.orders = orders;
    left.devices.resize(session_->scenario().gpu_count());
    return left;
  }

  std::vector<Entry> entries_;  ///< after the save
  std::string saved_;
  std::uint64_t orders_ = 0;
  std::size_t slice_count_ = 0;
  std::map<std::int64_t, sim::WorldLeft> devices_;  ///< by second
  std::unique_ptr<Session> session_;
};

TEST_F(SessionForgotten, AnOldCopyIsPlannedAgain) {
  const std::vector<Entry> entries = entries_;
  for (const auto& [second, left] : devices_) {
    SCOPED_TRACE(second);
    entries_ = entries;
    restart(left);
    expect_recovered();
  }
}

TEST_F(SessionForgotten, EmptyDevicesArePlannedAgain) {
  const std::vector<Entry> entries = entries_;
  for (const std::uint64_t orders : {std::uint64_t{0}, orders_, UINT64_MAX}) {
    SCOPED_TRACE(orders);
    entries_ = entries;
    restart(empty(orders));
    expect_recovered();
  }
}

// The memory of the GPU was written, and the count of orders was not.
TEST_F(SessionForgotten, ASliceOfOthersIsNotMadeTwice) {
  sim::FaultOrder order;
  order.gpus = {{0}};
  order.kind = sim::FaultKind::kLose;
  ASSERT_TRUE(session_->inject(order));
  order.kind = sim::FaultKind::kReturn;
  ASSERT_TRUE(session_->inject(order));
  const sim::WorldMemory before = session_->world_left().world;
  order.kind = sim::FaultKind::kForeignSlice;
  order.profile = sim::testing::slice_at(0, "1g.10gb", 0).profile;
  ASSERT_TRUE(session_->inject(order));
  sim::WorldLeft left = session_->world_left();
  left.world = before;
  restart(std::move(left));
  const auto slices = session_->snapshot().slices_on({0});
  EXPECT_EQ(std::ranges::count_if(slices, &StandingSlice::is_foreign), 1);
  expect_recovered();
}

}  // namespace
}  // namespace berth::live
