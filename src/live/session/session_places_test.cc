#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "engine/loop/engine.h"
#include "live/session/demo.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"

namespace berth::live {
namespace {

/// A demo whose solver is never idle.
class SessionPlaces : public ::testing::Test {
 protected:
  void SetUp() override {
    SessionOptions options;
    options.solving = sim::Solving::kElsewhere;
    options.listener.question = [this](SolveRequest request) { request_ = std::move(request); };
    auto made = Session::make(demo_scenario(), std::move(options));
    ASSERT_TRUE(made);
    session_ = std::move(*made);
    session_->begin();
    ask_another();
  }
  /// Answers the question, and waits for the next one.
  void ask_another() {
    while (!request_) go_on();
    const SolveRequest request = *std::exchange(request_, std::nullopt);
    session_->answer({.question = request.question, .solution = std::make_shared<const Solution>(request.solve())});
    while (!request_) go_on();
    ASSERT_TRUE(session_->is_solving());
  }
  void go_on() { ASSERT_TRUE(session_->advance(Instant::at_second(session_->now().second() + 1))); }
  void set() {
    const ServiceSpec spec = std::as_const(session_->scenario().services)[0];
    const std::string tenant = spec.tenant;
    ASSERT_TRUE(session_->set_service({.tenant = tenant, .name = "new"}, spec, {}, std::nullopt));
  }
  void remove() {
    const std::string tenant = std::as_const(session_->scenario().services)[0].tenant;
    ASSERT_TRUE(session_->remove_service({.tenant = tenant, .name = "new"}));
  }
  [[nodiscard]] std::size_t places() const { return session_->scenario().services.size(); }

  std::optional<SolveRequest> request_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionPlaces, AreTakenAgainThoughTheSolverIsNeverIdle) {
  const std::size_t before = places();
  for (int i = 0; i < 20; ++i) {
    set();
    remove();
    ask_another();
  }
  EXPECT_EQ(places(), before + 1);
}

TEST_F(SessionPlaces, StayFreeWhileAQuestionIsOpenThatKnowsTheService) {
  const std::size_t before = places();
  set();
  ask_another();
  remove();
  set();
  EXPECT_EQ(places(), before + 2);
}

/// One slice that answers within 20 s.
ServiceSpec slow_service() {
  ServiceSpec spec = sim::testing::service_of("a", {{.profile = "7g.80gb", .latency_ms = 20'000}},
                                              sim::testing::generated(Generator::Kind::kConstant, Decimal(1), 600));
  spec.tenant = "t";
  spec.drop = DropRule::kNever;
  sim::testing::set_target_ms(spec, 60'000);
  return spec;
}

TEST(PlaceOfAService, StaysTakenWhileABatchOfItRuns) {
  Scenario scenario = sim::testing::scenario_of({slow_service()}, {}, 1);
  scenario.layout.reset();
  const std::unique_ptr<Session> session = std::move(*Session::make(std::move(scenario), {}));
  session->begin();
  const auto run_to = [&](std::int64_t second) {
    while (session->now() < Instant::at_second(second)) static_cast<void>(session->advance(Instant::at_second(second)));
  };
  run_to(3);
  ASSERT_EQ(session->snapshot().slices.size(), 1U);
  ServiceSpec heir = slow_service();
  heir.pins = {{.slice = session->snapshot().slices.front().holding.slice}};
  ASSERT_TRUE(session->set_service({.tenant = "t", .name = "heir"}, heir, {}, std::nullopt));
  run_to(4);
  ASSERT_EQ(session->snapshot().slices.front().holding.services, std::vector<ServiceId>{{1}});
  ASSERT_TRUE(session->remove_service({.tenant = "t", .name = "a"}));
  ASSERT_TRUE(session->set_service({.tenant = "t", .name = "next"}, slow_service(), {}, std::nullopt));
  EXPECT_EQ(session->scenario().services.size(), 3U);
  run_to(40);
  ASSERT_TRUE(session->remove_service({.tenant = "t", .name = "next"}));
  run_to(80);
  ASSERT_TRUE(session->set_service({.tenant = "t", .name = "last"}, slow_service(), {}, std::nullopt));
  EXPECT_EQ(session->scenario().services.size(), 3U) << "the place of a is free after its batch";
}

}  // namespace
}  // namespace berth::live
