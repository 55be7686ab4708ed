#include "live/session/in_time.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "domain/values/scenario.h"
#include "domain/values/series.h"
#include "live/session/entry.h"
#include "live/session/live_figures.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world_left.h"

namespace berth::live {
namespace {

namespace t = sim::testing;

TEST(SlicesFor, CountsThoseThatServeFirst) {
  struct Case {
    double rate;
    SliceRates rates;
    std::optional<std::int64_t> slices;
  };
  const std::vector<Case> cases = {
      {0, {.serving = {100}, .others = {}, .largest = 100}, 0},
      {100, {.serving = {100}, .others = {}, .largest = 100}, 1},
      {100.5, {.serving = {100}, .others = {}, .largest = 100}, 2},
      {50, {.serving = {10, 100}, .others = {}, .largest = 100}, 1},  // the largest first
      {50, {.serving = {10}, .others = {100}, .largest = 100}, 2},    // the one that serves is not enough
      {450, {.serving = {100}, .others = {50}, .largest = 100}, 5},   // 100 + 50 + 3 more of 100
      {450, {.serving = {}, .others = {}, .largest = 200}, 3},
      {10, {.serving = {}, .others = {}, .largest = {}}, std::nullopt},
      {0.3, {.serving = {0.1, 0.1, 0.1}, .others = {}, .largest = 0.1}, 3},  // 0.1 + 0.1 + 0.1 is above 0.3 in doubles
  };
  for (const Case& each : cases) EXPECT_EQ(slices_for(each.rate, each.rates), each.slices) << each.rate;
}

ServiceSpec loaded(const std::string& name, Generator::Kind kind, std::int64_t per_second) {
  ServiceSpec service =
      t::service_of(name, {{.profile = "3g.40gb", .latency_ms = 10}}, t::generated(kind, Decimal(per_second), 60));
  service.arrivals.repeat = true;
  return service;
}

/// Service a gets half of what one slice answers, b two and a half times as much; each has one slice of 100 requests
/// per second.
class InTime : public ::testing::Test {
 protected:
  InTime() : session_(make()) { session_->begin(); }

  std::unique_ptr<Session> make() {
    SessionOptions options;
    options.policy = "fixed";
    options.listener.entry = [this](Entry entry) { entries_.push_back(std::move(entry)); };
    options.listener.series = [this](SeriesSpan span) { seconds_.push_back(std::move(span)); };
    Scenario scenario = t::scenario_of(
        {loaded("a", Generator::Kind::kConstant, 50), loaded("b", Generator::Kind::kConstant, 250)},
        {t::holding_of(t::slice_at(0, "3g.40gb", 0), {0}), t::holding_of(t::slice_at(0, "3g.40gb", 4), {1})}, 1);
    return std::move(*Session::make(std::move(scenario), std::move(options)));
  }
  void run_to(std::int64_t second) {
    while (session_->advance(Instant::at_second(second))) {
    }
    session_->refresh();
  }
  [[nodiscard]] static const ServiceEntry& entry_of(const Session& session, const std::string& name) {
    return session.catalog().services.at({.tenant = name, .name = name});
  }
  [[nodiscard]] static Condition condition_of(const Session& session, const std::string& name) {
    const ServiceEntry& entry = entry_of(session, name);
    return in_time_condition(session, entry, need_of(session, entry.id));
  }
  [[nodiscard]] Condition condition(const std::string& name) const { return condition_of(*session_, name); }
  [[nodiscard]] Need need(const std::string& name) const { return need_of(*session_, entry_of(*session_, name).id); }
  /// Changes what was agreed on for the service, and its floor; nothing else.
  void agree(const std::string& name, std::optional<Decimal> attainment, std::optional<Decimal> floor = std::nullopt) {
    ServiceSpec spec = std::as_const(session_->scenario()).services[entry_of(*session_, name).id.index];
    spec.agreed.attainment = std::move(attainment);
    spec.floor_attainment = std::move(floor);
    ASSERT_TRUE(session_->set_service({.tenant = name, .name = name}, std::move(spec), {}, std::nullopt));
  }

  std::vector<Entry> entries_;
  std::vector<SeriesSpan> seconds_;
  std::unique_ptr<Session> session_;
};

TEST_F(InTime, IsUnknownWithoutFigures) {
  const Condition unknown = condition("b");
  EXPECT_EQ(unknown.type, ConditionType::kInTime);
  EXPECT_EQ(unknown.status, ConditionStatus::kUnknown);
  EXPECT_EQ(unknown.reason, "NoFigures");
  EXPECT_EQ(need("b").slices, std::nullopt);
}

TEST_F(InTime, ComparesTheLastMinuteWithTheDefaultAndSaysWhatIsNeeded) {
  run_to(90);
  const Condition kept = condition("a");
  EXPECT_EQ(kept.status, ConditionStatus::kTrue);
  EXPECT_EQ(kept.reason, "InTime");
  EXPECT_EQ(kept.message, "100.00 % of 3000 requests in the last 60 s in time, agreed: 95 % (the default)");
  EXPECT_EQ(need("a").slices, 1);
  const Condition missed = condition("b");
  EXPECT_EQ(missed.status, ConditionStatus::kFalse);
  EXPECT_EQ(missed.reason, "TooLittleCapacity");
  EXPECT_EQ(missed.since, Instant::at_second(2));  // the first second whose target has passed
  EXPECT_NE(missed.message.find("of 15000 requests in the last 60 s in time, agreed: 95 % (the default); needed: at "
                                "least 237.5 requests per second, 3 slices; 1 slice that serves can answer 100.0"),
            std::string::npos)
      << missed.message;
  EXPECT_DOUBLE_EQ(need("b").capacity, 100);
  const InTimeCounts counts = count_in_time(*session_);
  EXPECT_EQ(counts.kept, 1);
  EXPECT_EQ(counts.missed, 1);
  EXPECT_EQ(counts.unknown, 0);
}

TEST_F(InTime, TheAgreementComesBeforeTheFloorAndTheFloorBeforeTheDefault) {
  run_to(90);
  ASSERT_EQ(condition("b").status, ConditionStatus::kFalse);
  const auto before = session_->snapshot().slices.size();
  agree("b", Decimal(3, 10));
  EXPECT_EQ(condition("b").status, ConditionStatus::kTrue) << condition("b").message;
  EXPECT_NE(condition("b").message.find("agreed: 30 % (slo.attainment)"), std::string::npos);
  EXPECT_EQ(condition("b").since, Instant::at_second(90));
  EXPECT_EQ(need("b").slices, 1);
  agree("b", std::nullopt, Decimal(9, 10));
  EXPECT_NE(condition("b").message.find("agreed: 90 % (floor.attainment)"), std::string::npos);
  EXPECT_EQ(condition("b").status, ConditionStatus::kFalse);
  agree("b", Decimal(2, 10), Decimal(9, 10));
  EXPECT_EQ(condition("b").status, ConditionStatus::kTrue);
  EXPECT_EQ(session_->snapshot().slices.size(), before);
  run_to(100);
  EXPECT_EQ(session_->figures().minute_of(entry_of(*session_, "b").id)->seconds, 60) << "its figures go on";
}

TEST_F(InTime, IsUnknownWithoutRequests) {
  run_to(90);
  ServiceSpec quiet = std::as_const(session_->scenario()).services[entry_of(*session_, "b").id.index];
  quiet.arrivals = t::generated(Generator::Kind::kConstant, Decimal(1, 1000), 1000);
  ASSERT_TRUE(session_->set_service({.tenant = "b", .name = "b"}, std::move(quiet), {}, std::nullopt));
  run_to(200);
  const Condition unknown = condition("b");
  EXPECT_EQ(unknown.status, ConditionStatus::kUnknown);
  EXPECT_EQ(unknown.reason, "NoRequests");
  EXPECT_GT(unknown.since, Instant::at_second(140));
  EXPECT_EQ(need("b").slices, 0);
  EXPECT_EQ(count_in_time(*session_).unknown, 1);
}

TEST_F(InTime, WithoutASliceTheNeedCountsTheLargestOne) {
  run_to(30);
  sim::FaultOrder lose;
  lose.kind = sim::FaultKind::kLose;
  lose.gpus = {{0}};
  ASSERT_TRUE(session_->inject(lose));
  run_to(100);
  const Condition missed = condition("b");
  EXPECT_EQ(missed.status, ConditionStatus::kFalse);
  EXPECT_EQ(missed.reason, "NoneServes");
  EXPECT_NE(missed.message.find("0.00 % of 15000 requests"), std::string::npos) << missed.message;
  EXPECT_NE(missed.message.find("3 slices; no slice serves it"), std::string::npos) << missed.message;
  EXPECT_EQ(need("b").slices, 3);
}

TEST_F(InTime, GoesOnAfterARestart) {
  run_to(50);
  agree("a", Decimal(999, 1000));
  run_to(75);
  session_->emit_all();
  const std::vector<Entry> entries = entries_;
  const std::vector<SeriesSpan> seconds = seconds_;
  const auto next = make();
  next->repeat(entries, session_->order_count());
  next->restore_figures(seconds);
  next->resume(session_->world_left());
  next->refresh();
  for (const char* name : {"a", "b"}) EXPECT_EQ(condition_of(*next, name), condition(name)) << name;
}

TEST_F(InTime, ASavedSessionKeepsWhatWasAgreedOn) {
  run_to(20);
  agree("a", Decimal(999, 1000));
  run_to(30);
  const std::string bytes = session_->save();
  const auto next = make();
  ASSERT_TRUE(next->restore(bytes).has_value());
  const auto& services = std::as_const(next->scenario()).services;
  EXPECT_EQ(services[0].agreed.attainment, Decimal(999, 1000));
  EXPECT_FALSE(services[1].agreed.attainment);
}

}  // namespace
}  // namespace berth::live
