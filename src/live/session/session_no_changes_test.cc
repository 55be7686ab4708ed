// Windows without changes in a running session: what stops, what continues, and that a restart keeps them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "live/session/demo.h"
#include "live/session/entry.h"
#include "live/session/event_log.h"
#include "live/session/service_watch.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/world_left.h"

namespace berth::live {
namespace {

/// A window from `from` until `until`, seconds of the world; 60 of them are a minute of the week.
NoChanges between(std::int64_t from, std::int64_t until) {
  constexpr std::int64_t kFirstMinute = 1000;  // of the week
  const auto minutes = static_cast<int>((until - from) / 60);
  return {.week_at_start = Micros::seconds(kFirstMinute * 60 - from),
          .spans = {{.from_minute = kFirstMinute, .until_minute = static_cast<int>(kFirstMinute) + minutes}}};
}

/// The demo under its planner; its entries are kept.
class SessionNoChanges : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Session> make(std::optional<NoChanges> windows) {
    SessionOptions options;
    options.no_changes = std::move(windows);
    options.listener.entry = [this](Entry entry) { entries_.push_back(std::move(entry)); };
    auto made = Session::make(demo_scenario(), std::move(options));
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
  void begin(std::optional<NoChanges> windows) {
    session_ = make(std::move(windows));
    session_->begin();
  }
  void restart(std::optional<NoChanges> windows) {
    session_->emit_all();
    sim::WorldLeft left = session_->world_left();
    session_ = make(std::move(windows));
    session_->repeat(std::vector(entries_), left.world.orders);
    session_->resume(std::move(left));
  }
  void run_to(std::int64_t second) {
    while (session_->now() < Instant::at_second(second)) ASSERT_TRUE(session_->advance(Instant::at_second(second)));
  }
  [[nodiscard]] std::vector<LoggedEvent> events(EventKind kind) const {
    const EventLog& log = session_->events();
    auto all = log.after(log.oldest_sequence() - 1, EventLog::kCapacity);
    std::erase_if(all, [&](const LoggedEvent& event) { return event.kind != kind; });
    return all;
  }
  /// Of actions that began in [from, until).
  [[nodiscard]] std::ptrdiff_t begun(std::int64_t from, std::int64_t until) const {
    return std::ranges::count_if(events(EventKind::kActionIntended), [&](const LoggedEvent& event) {
      return event.at >= Instant::at_second(from) && event.at < Instant::at_second(until);
    });
  }
  /// How often windows were set.
  [[nodiscard]] std::ptrdiff_t orders() const {
    return std::ranges::count_if(entries_, [](const Entry& entry) {
      const auto* seen = std::get_if<EventSeen>(&entry.what);
      return seen != nullptr && std::holds_alternative<NoChangesSet>(seen->event.what);
    });
  }
  void add_service() {
    const ServiceSpec spec = session_->scenario().services[1];
    ASSERT_TRUE(session_->set_service({.tenant = spec.tenant, .name = "more"}, spec, {}, std::nullopt).has_value());
  }
  /// Of the service that was added.
  [[nodiscard]] Condition placed() {
    session_->refresh();
    const ServiceId last{static_cast<std::uint32_t>(session_->scenario().services.size() - 1)};
    return session_->watch().conditions_of(last).front();
  }

  std::vector<Entry> entries_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionNoChanges, NothingBeginsInAWindowAndPlansGoOnAfterIt) {
  begin(between(30, 150));
  EXPECT_FALSE(session_->snapshot().slices.empty()) << "the first layout is none of them";
  run_to(40);
  add_service();
  run_to(41);
  EXPECT_EQ(placed().reason, "Frozen");
  EXPECT_EQ(placed().message, "a window without changes: no change begins before second 150 of the world");
  run_to(250);
  EXPECT_EQ(begun(30, 150), 0);
  EXPECT_GT(begun(150, 250), 0);
  EXPECT_NE(placed().reason, "Frozen");
}

TEST_F(SessionNoChanges, WithoutOneTheSameGoesOn) {
  begin(std::nullopt);
  run_to(40);
  add_service();
  run_to(250);
  EXPECT_GT(begun(30, 150), 0);
}

TEST_F(SessionNoChanges, HoldFromWhenTheyAreSetUntilTheyAreNot) {
  begin(std::nullopt);
  run_to(20);
  EXPECT_TRUE(session_->set_no_changes({}));
  EXPECT_EQ(orders(), 0) << "they were none";
  EXPECT_TRUE(session_->set_no_changes(between(0, 600)));
  EXPECT_TRUE(session_->set_no_changes(between(0, 600)));
  EXPECT_EQ(orders(), 1);
  add_service();
  run_to(80);
  EXPECT_EQ(begun(21, 80), 0);
  EXPECT_TRUE(session_->set_no_changes({}));
  run_to(120);
  EXPECT_GT(begun(80, 120), 0);
  const auto set = events(EventKind::kNoChangesSet);
  ASSERT_EQ(set.size(), 2U);
  EXPECT_EQ(set.front().message, "mon 16:40 to mon 16:50");
  EXPECT_EQ(set.back().message, "none");
}

TEST_F(SessionNoChanges, ARestartKeepsThemUnlessItHasOthers) {
  begin(between(0, 600));
  EXPECT_EQ(orders(), 1);
  run_to(50);
  restart(std::nullopt);
  EXPECT_EQ(orders(), 1);
  EXPECT_EQ(session_->scenario().no_changes, between(0, 600));
  restart(between(0, 600));
  EXPECT_EQ(orders(), 1);
  add_service();
  run_to(100);
  EXPECT_EQ(begun(1, 100), 0);
  restart(NoChanges());
  EXPECT_EQ(orders(), 2);
  EXPECT_EQ(session_->scenario().no_changes, NoChanges());
  run_to(150);
  EXPECT_GT(begun(100, 150), 0);
  restart(between(120, 600));
  EXPECT_EQ(orders(), 3);
  const std::ptrdiff_t before = begun(0, 1000);
  run_to(200);
  EXPECT_EQ(begun(0, 1000), before);
  restart(std::nullopt);
  EXPECT_EQ(session_->scenario().no_changes, between(120, 600));
}

}  // namespace
}  // namespace berth::live
