// Promises of a running session: they are judged and survive a restart; a world in which changes take far longer than
// planned ends in a pause.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "domain/values/snapshot.h"
#include "live/session/demo.h"
#include "live/session/entry.h"
#include "live/session/promise_book.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/world_left.h"

namespace berth::live {
namespace {

class SessionPromises : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Session> make() {
    SessionOptions options;
    options.listener.entry = [this](Entry entry) { entries_.push_back(std::move(entry)); };
    auto made = Session::make(demo_scenario(), std::move(options));
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
  void begin() {
    session_ = make();
    session_->begin();
  }
  void run_to(std::int64_t second) {
    const Instant until = Instant::at_second(second);
    while (session_->now() < until) ASSERT_TRUE(session_->advance(until) || session_->now() == until);
  }
  /// Every creation and destruction takes that long from now on.
  void slow_down(Micros duration) {
    sim::FaultOrder order;
    order.kind = sim::FaultKind::kSlow;
    order.duration = duration;
    for (std::uint32_t gpu = 0; gpu < session_->scenario().gpu_count(); ++gpu) order.gpus.push_back({gpu});
    ASSERT_TRUE(session_->inject(order).has_value());
  }

  std::vector<Entry> entries_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionPromises, AreJudgedWhenTheirWindowsAreOverAndOutliveARestart) {
  begin();
  run_to(600);
  while (!session_->is_at_rest()) static_cast<void>(session_->advance(session_->now() + Micros::seconds(1)));
  ASSERT_FALSE(session_->promises().open().empty());
  ASSERT_FALSE(session_->promises().judged().empty());
  const PromiseSums sums = session_->promises().sums(session_->now(), Micros::seconds(3'600));
  EXPECT_GT(sums.promised, 0);
  EXPECT_GT(sums.achieved, 0);
  EXPECT_FALSE(session_->snapshot().pause);
  const std::string saved = session_->save();
  const std::vector<Entry> entries = std::exchange(entries_, {});
  sim::WorldLeft left = session_->world_left();

  const auto repeated = make();
  repeated->repeat(std::vector(entries), left.world.orders);
  const auto restored = make();
  ASSERT_TRUE(restored->restore(saved).has_value());
  for (Session* other : {repeated.get(), restored.get()}) {
    EXPECT_EQ(other->promises().open(), session_->promises().open());
    EXPECT_EQ(other->promises().judged(), session_->promises().judged());
  }
}

TEST_F(SessionPromises, PauseAPlannerWhoseChangesTakeFarTooLong) {
  if (berth::testing::kIsSlowBuild) GTEST_SKIP() << "too slow with sanitizers: the release build tries it";
  begin();
  slow_down(session_->scenario().changes.create * 20);
  std::int64_t second = 0;
  while (!session_->snapshot().pause && second < std::int64_t{4} * 3'600) run_to(second += 60);
  ASSERT_TRUE(session_->snapshot().pause);
  EXPECT_EQ(session_->snapshot().pause->reason, kPromisesFailed);
  EXPECT_GE(session_->promises().counted(session_->now()).changes, kPromisedChangesMin);
  // Planning resumes when ordered, and earlier changes do not stop it again.
  ASSERT_TRUE(session_->resume("looked at"));
  run_to(second + 120);
  EXPECT_FALSE(session_->snapshot().pause);
}

}  // namespace
}  // namespace berth::live
